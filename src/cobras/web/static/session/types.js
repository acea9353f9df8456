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
 * @typedef {Thumbnail & {card: Card, cluster: number | null, cluster_id: number | null, colour: number | null,
 *   at: [number, number] | null}} Item
 * @typedef {{name: string, left: string | null, right: string | null,
 *   difference: number, measured: boolean, missing: boolean, used: boolean}} Column
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
 * @property {number | null} expected_ari
 * @property {[number, number] | null} ari_range
 * @property {number | null} n_left answers until one may stop
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
 * @typedef {{row: number, cluster: number, colour: number, name: string, members: Thumbnail[]}} Pile
 * @typedef {{run: string, version: number, words: string, cards: Item[], piles: Pile[], columns: string[], unused: string[]}} Board
 *
 * @typedef {object} HistoryRecord
 * @property {number} index
 * @property {"answer" | "board" | "constraint" | "known" | "move" | "merge"} kind
 * @property {number | null} number
 * @property {Thumbnail | null} left
 * @property {Thumbnail | null} right
 * @property {number} n_pairs
 * @property {Answer | null} answer null for a board, a move or a merge
 * @property {number} at
 * @property {boolean} in_force
 * @property {boolean} satisfied
 * @property {boolean} set_aside
 * @property {number} n_set_aside pairs of it
 * @property {number} n_void pairs of it that are not in force
 *
 * @typedef {Question & {no_longer_apply: HistoryRecord[], no_longer_asked: HistoryRecord[]}} Revised
 * @typedef {{i: number, j: number, answer: Answer, index: number | null, number: number | null}} Link
 * @typedef {{error: string, message: string, question: Question, chain: Link[]}} Refusal
 *
 * @typedef {object} Cluster
 * @property {number} number which changes take; it may be another one after the next answer
 * @property {number} id which a person knows it by, for life
 * @property {number} colour
 * @property {number} size
 * @property {number} share
 * @property {string} name
 * @property {string} suggestion
 * @property {boolean} pure
 * @property {boolean} complete
 * @property {boolean} to_split whether the next questions are inside it
 * @property {number} n_super_instances
 * @property {Thumbnail[]} representatives
 * @property {Thumbnail[]} unusual
 *
 * @typedef {{version: number, labels: number, can_mark: boolean, can_split: boolean,
 *   clusters: Cluster[]}} Clusters
 * @typedef {{version: number, records: HistoryRecord[], can_undo: boolean, can_redo: boolean}} History
 * @typedef {{version: number, progress: Progress,
 *   series: {n_clusters: number[], stable_share: (number | null)[], expected_ari: (number | null)[]}}} ProgressSeries
 * @typedef {Thumbnail & {cluster: number, cluster_id: number, colour: number, cluster_name: string,
 *   cells: (string | null)[], confidence: number | null}} ListedItem
 * @typedef {{version: number, total: number, offset: number, columns: string[], items: ListedItem[]}} Items
 *
 * @typedef {{version: number, words: string}} Why
 * @typedef {{value: string, inside: number, outside: number}} Share
 * @typedef {{kind: "number" | "date", name: string, low: string, high: string, inside: number[], outside: number[],
 *   at: number, at_outside: number, middle: string, middle_outside: string, missing: number,
 *   missing_outside: number}} DistributionProfile
 * @typedef {{kind: "category", name: string, values: Share[], missing: number, missing_outside: number}} SharesProfile
 * @typedef {DistributionProfile | SharesProfile} ColumnProfile
 * @typedef {{mean: (number | null)[], low: (number | null)[], high: (number | null)[],
 *   rest: (number | null)[]}} CurveProfile
 * @typedef {Thumbnail & {cells: (string | null)[]}} Member
 * @typedef {{version: number, id: number, number: number, size: number, n_inside: number, n_outside: number,
 *   suggestion: string, columns: ColumnProfile[], words: Share[], curves: CurveProfile[], pictures: Thumbnail[],
 *   headers: string[], typical: Member[], unusual: Member[]}} Profile
 *
 * @typedef {object} Settings
 * @property {string} name
 * @property {"table" | "image" | "text" | "series"} kind
 * @property {number} n_items
 * @property {string[]} columns
 * @property {string[]} notes
 * @property {string} session_file
 * @property {boolean} blind
 * @property {boolean} boards whether items are such that several are seen at one look
 * @property {string} words
 * @property {Record<string, string[]>} keys
 * @property {string[]} exports
 * @property {boolean} can_close whether the page may end the server
 *
 * @typedef {object} DataColumn
 * @property {string} name
 * @property {"used" | "name" | "label" | "ignored" | "dropped"} use
 * @property {string} type
 * @property {string} reason why it is ignored
 * @property {number} share_missing
 * @property {string[]} missing words that stand for a gap
 * @property {string[]} examples
 * @property {number} weight
 * @property {("used" | "name" | "dropped")[]} uses that are possible
 * @property {string[]} types that it could have
 *
 * @typedef {{id: string | null, drop: string[], use: string[], types: Record<string, string>,
 *   weights: Record<string, number>, kind: string | null, text: string | null, image: string | null,
 *   features: string | null}} DataChoices
 * @typedef {{words: string, kind: string, text: string | null, image: string | null, features: string | null,
 *   is_now: boolean}} Way
 * @typedef {{run: string, columns: DataColumn[], by: string, quality: "good" | "fair" | "poor", advice: string,
 *   ways: Way[], choices: DataChoices, notes: string[], can_change: boolean}} Data
 *
 * What the page makes of base64: `of` is the cluster of every row that the map shows, `xy` holds x and y of each in
 * [0, 1], `rows` their numbers, ascending, where they are not all rows.
 *
 * @typedef {{version: number, at: number, of: Uint8Array | Uint16Array | Uint32Array, colours: number[],
 *   ids: number[]}} Labels
 * @typedef {{version: number, layout: "none" | "pca" | "tsne", pending: boolean, problem: string, n_items: number,
 *   rows: Uint32Array | null, xy: Float32Array}} Layout
 *
 * The focus: a cluster, by its colour, which stays with it when numbers change, or the rows of a lasso.
 *
 * @typedef {{colour: number} | {rows: Int32Array}} Focus
 */

export {};
