/**
 * The bodies of the HTTP interface, as docs/reference/http.md describes them, and what the page makes of them.
 *
 * @typedef {"same" | "different" | "unsure"} Answer
 * @typedef {{name: string, value: string | null}} Cell
 * @typedef {{kind: "table", fields: Cell[]}} TableCard
 * @typedef {{kind: "image", src: string, width: number, height: number, fields: Cell[]}} ImageCard
 * @typedef {{kind: "text", text: string, cut: boolean, fields: Cell[]}} TextCard
 * @typedef {{kind: "series", channels: (number | null)[][], length: number, fields: Cell[]}} SeriesCard
 * @typedef {TableCard | ImageCard | TextCard | SeriesCard} Card
 * @typedef {{i: number, id: string, text: string, image: string | null, line: (number | null)[] | null}} Thumbnail
 * @typedef {Thumbnail & {card: Card, cluster: number | null, colour: number | null,
 *   at: [number, number] | null}} Item
 * @typedef {{name: string, left: string | null, right: string | null,
 *   difference: number, measured: boolean}} Column
 *
 * @typedef {object} Progress
 * @property {number} n_answers
 * @property {number} n_items
 * @property {number} n_clusters
 * @property {number | null} stable_share
 * @property {number} window
 * @property {number[]} unsatisfied indices into the history
 * @property {number} n_set_aside
 * @property {boolean} may_stop
 * @property {string} reason
 *
 * @typedef {{what: string, seconds: number, share: number | null}} Computing
 * @typedef {{session: number, labels: number, clusters: number, map: number}} Versions
 *
 * @typedef {object} Question
 * @property {"asking" | "computing" | "done" | "failed"} state
 * @property {string} run
 * @property {Versions} versions
 * @property {string} words
 * @property {{i: number, j: number} | null} pair
 * @property {Item | null} left
 * @property {Item | null} right
 * @property {Column[] | null} columns
 * @property {Answer | null} guess
 * @property {Progress | null} progress
 * @property {Computing | null} computing
 * @property {boolean} can_undo
 * @property {boolean} can_redo
 * @property {boolean} saved
 * @property {number | null} saved_at
 * @property {string} message
 *
 * @typedef {object} HistoryRecord
 * @property {number} index
 * @property {"answer" | "constraint"} kind
 * @property {number | null} number
 * @property {Thumbnail} left
 * @property {Thumbnail} right
 * @property {Answer} answer
 * @property {number} at
 * @property {boolean} in_force
 * @property {boolean} satisfied
 * @property {boolean} set_aside
 *
 * @typedef {Question & {no_longer_apply: HistoryRecord[], no_longer_asked: HistoryRecord[]}} Revised
 * @typedef {{i: number, j: number, answer: Answer, index: number | null}} Link
 * @typedef {{error: string, message: string, question: Question, chain: Link[]}} Refusal
 *
 * @typedef {object} Cluster
 * @property {number} number
 * @property {number} colour
 * @property {number} size
 * @property {number} share
 * @property {string} name
 * @property {string} suggestion
 * @property {boolean} pure
 * @property {boolean} complete
 * @property {number} n_super_instances
 * @property {Thumbnail[]} representatives
 * @property {Thumbnail[]} unusual
 *
 * @typedef {{version: number, can_mark: boolean, clusters: Cluster[]}} Clusters
 * @typedef {{version: number, records: HistoryRecord[], can_undo: boolean, can_redo: boolean}} History
 * @typedef {{version: number, progress: Progress,
 *   series: {n_clusters: number[], stable_share: (number | null)[]}}} ProgressSeries
 * @typedef {Thumbnail & {cluster: number, colour: number, cluster_name: string,
 *   cells: (string | null)[]}} ListedItem
 * @typedef {{version: number, total: number, offset: number, columns: string[], items: ListedItem[]}} Items
 *
 * @typedef {object} Settings
 * @property {string} name
 * @property {"table" | "image" | "text" | "series"} kind
 * @property {number} n_items
 * @property {string[]} columns
 * @property {string[]} notes
 * @property {string} session_file
 * @property {boolean} blind
 * @property {string} words
 * @property {Record<string, string[]>} keys
 * @property {string[]} exports
 *
 * What the page makes of base64: `of` is the cluster of every row that the map shows, `xy` holds x and y of each in
 * [0, 1], `rows` their numbers, ascending, where they are not all rows.
 *
 * @typedef {{version: number, at: number, of: Uint8Array | Uint16Array | Uint32Array, colours: number[]}} Labels
 * @typedef {{version: number, layout: "none" | "pca" | "tsne", pending: boolean, problem: string, n_items: number,
 *   rows: Uint32Array | null, xy: Float32Array}} Layout
 *
 * The focus: a cluster, by its colour, which stays with it when numbers change, or the rows of a lasso.
 *
 * @typedef {{colour: number} | {rows: Int32Array}} Focus
 */

export {};
