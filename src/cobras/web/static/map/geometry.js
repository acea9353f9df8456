/** Where things are on the map: the point under the pointer, the points in a lasso, the place of a number. */

const CELLS = 64; // per axis, of the grid in which a near point is searched
const AWAY = [0, -2.1, 2.1, -4.2, 4.2]; // half heights by which a label may be moved up or down
const BLOCKS = [4, 24]; // least and most per axis of the grid in which the densest part of a cluster is searched

export class Nearest {
  /** @param {Float32Array} xy x and y of every row, in [0, 1] */
  constructor(xy) {
    this.xy = xy;
    const n = xy.length / 2;
    const cell = new Uint16Array(n);
    this.first = new Uint32Array(CELLS * CELLS + 1);
    for (let row = 0; row < n; row++) {
      cell[row] = index(xy[2 * row], CELLS) + CELLS * index(xy[2 * row + 1], CELLS);
      this.first[cell[row] + 1] += 1;
    }
    for (let k = 0; k < CELLS * CELLS; k++) this.first[k + 1] += this.first[k];
    const next = this.first.slice();
    this.rows = new Uint32Array(n);
    for (let row = 0; row < n; row++) this.rows[next[cell[row]]++] = row;
  }

  /**
   * The row nearest to a place, at most so far away, or null.
   *
   * @param {number} x
   * @param {number} y
   * @param {number} reachX half the width of the ellipse that counts as near, in map units
   * @param {number} reachY
   */
  find(x, y, reachX, reachY) {
    let best = null;
    let least = 1;
    for (let row = index(y - reachY, CELLS); row <= index(y + reachY, CELLS); row++) {
      for (let column = index(x - reachX, CELLS); column <= index(x + reachX, CELLS); column++) {
        const cell = column + CELLS * row;
        for (let k = this.first[cell]; k < this.first[cell + 1]; k++) {
          const candidate = this.rows[k];
          const away =
            ((this.xy[2 * candidate] - x) / reachX) ** 2 + ((this.xy[2 * candidate + 1] - y) / reachY) ** 2;
          if (away < least) [best, least] = [candidate, away];
        }
      }
    }
    return best;
  }
}

/**
 * The rows inside a polygon, by the parity of crossings.
 *
 * @param {Float32Array} xy
 * @param {[number, number][]} corners
 */
export function rowsInside(xy, corners) {
  const rows = [];
  for (let row = 0; row < xy.length / 2; row++) {
    const [x, y] = [xy[2 * row], xy[2 * row + 1]];
    let inside = false;
    for (let k = 0, j = corners.length - 1; k < corners.length; j = k++) {
      const [[x1, y1], [x2, y2]] = [corners[k], corners[j]];
      if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
    }
    if (inside) rows.push(row);
  }
  return Int32Array.from(rows);
}

/**
 * For each cluster the row at which its number is drawn: in the densest part, so that it lies on the cluster even
 * where that has several islands.
 *
 * @param {Float32Array} xy
 * @param {ArrayLike<number>} labels
 * @param {number} n_clusters
 */
export function anchors(xy, labels, n_clusters) {
  const n = labels.length;
  // Coarse enough that a block of a typical cluster holds several points.
  const side = Math.max(BLOCKS[0], Math.min(BLOCKS[1], Math.round(Math.sqrt(n / n_clusters))));
  const blocks = side * side;
  const count = new Uint32Array(n_clusters * blocks);
  const block = new Uint32Array(n);
  for (let row = 0; row < n; row++) {
    block[row] = labels[row] * blocks + index(xy[2 * row], side) + side * index(xy[2 * row + 1], side);
    count[block[row]] += 1;
  }
  const densest = new Uint32Array(n_clusters);
  for (let k = 0; k < n_clusters; k++) {
    densest[k] = k * blocks;
    for (let b = k * blocks; b < (k + 1) * blocks; b++) if (count[b] > count[densest[k]]) densest[k] = b;
  }
  const sums = new Float64Array(2 * n_clusters);
  for (let row = 0; row < n; row++) {
    if (block[row] !== densest[labels[row]]) continue;
    sums[2 * labels[row]] += xy[2 * row];
    sums[2 * labels[row] + 1] += xy[2 * row + 1];
  }
  const rows = new Int32Array(n_clusters).fill(-1);
  const least = new Float64Array(n_clusters).fill(Infinity);
  for (let row = 0; row < n; row++) {
    const k = labels[row];
    if (block[row] !== densest[k]) continue;
    const size = count[densest[k]];
    const away = Math.hypot(xy[2 * row] - sums[2 * k] / size, xy[2 * row + 1] - sums[2 * k + 1] / size);
    if (away < least[k]) [rows[k], least[k]] = [row, away];
  }
  return rows;
}

/** @param {number} value @param {number} n */
function index(value, n) {
  return Math.max(0, Math.min(n - 1, Math.floor(value * n)));
}

/** @typedef {[number, number, number, number]} Box middle, half width and half height */

/**
 * Where labels stand, and which of their texts they hold: none covers another, or what is taken, where that can be.
 * A label is moved up or down a little; where there is no room for a text, it holds the next one, which is shorter.
 *
 * @param {{ x: number, y: number, halves: number[] }[]} labels the half widths of its texts, longest first
 * @param {Box[]} taken
 * @param {{ width: number, height: number }} map
 * @param {number} half half the height of a label
 * @returns {{ text: number, box: Box }[]}
 */
export function placeLabels(labels, taken, { width, height }, half) {
  const filled = [...taken];
  const within = (/** @type {number} */ at, /** @type {number} */ least, /** @type {number} */ most) =>
    Math.max(least, Math.min(most - least, at));
  return labels.map(({ x, y, halves }) => {
    const places = halves.flatMap((w, text) =>
      AWAY.map((by) => ({
        text,
        box: /** @type {Box} */ ([within(x, w, width), within(y + by * half, half + 1, height), w, half]),
      })),
    );
    const isFree = (/** @type {{ box: Box }} */ { box: [a, b, w, h] }) =>
      2 * w <= width && filled.every(([c, d, v, g]) => Math.abs(a - c) > w + v || Math.abs(b - d) > h + g);
    const found = places.find(isFree) ?? places[(halves.length - 1) * AWAY.length];
    filled.push(found.box);
    return found;
  });
}
