/**
 * Many discs on a canvas, stamped into its pixels.
 *
 * 100,000 points take 25 ms per frame this way, where a change of all positions and colours of a plotly `scattergl`
 * trace takes 900 ms (Chromium on 2 cores without a graphics card), so that points can move smoothly.
 */

const STEPS = 4; // positions within a pixel, per axis, so that slow movement is smooth

export class Points {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (
      canvas.getContext("2d", { alpha: false, willReadFrequently: true })
    );
    this.radius = 0;
    this.size = 0;
    /** @type {Uint16Array[]} */
    this.stamps = [];
    this.image = this.context.createImageData(1, 1);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  /** In device pixels. @param {number} width @param {number} height */
  resize(width, height) {
    this.canvas.width = width;
    this.canvas.height = height;
    this.image = this.context.createImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  /** In device pixels. @param {number} radius */
  setRadius(radius) {
    if (radius === this.radius) return;
    this.radius = radius;
    this.size = Math.ceil(2 * radius + 2);
    this.stamps = [];
    for (let k = 0; k < STEPS * STEPS; k++)
      this.stamps.push(this.stamp((k % STEPS) / STEPS, Math.floor(k / STEPS) / STEPS));
  }

  /** How much of each pixel a disc covers, in 256ths, when its centre lies so far to the right and down. */
  stamp(/** @type {number} */ right, /** @type {number} */ down) {
    const covers = new Uint16Array(this.size * this.size);
    const middle = this.size / 2 - 0.5;
    for (let k = 0; k < covers.length; k++) {
      const away = Math.hypot((k % this.size) - middle - right, Math.floor(k / this.size) - middle - down);
      covers[k] = 256 * Math.max(0, Math.min(1, this.radius + 0.5 - away));
    }
    return covers;
  }

  /** @param {number} colour */
  clear(colour) {
    this.pixels.fill(colour);
  }

  /**
   * Stamp the points for which `which` is `wanted`, or all.
   *
   * @param {Float32Array} at x and y in device pixels
   * @param {Uint32Array} colours
   * @param {Uint8Array | null} which
   * @param {number} wanted
   */
  add(at, colours, which, wanted) {
    const { size, stamps, pixels } = this;
    const { width, height } = this.canvas;
    for (let k = 0; k < colours.length; k++) {
      if (which !== null && which[k] !== wanted) continue;
      const x = at[2 * k] - size / 2;
      const y = at[2 * k + 1] - size / 2;
      const x0 = Math.floor(x);
      const y0 = Math.floor(y);
      if (!(x0 >= 0 && y0 >= 0 && x0 + size <= width && y0 + size <= height)) continue;
      const covers = stamps[Math.floor((x - x0) * STEPS) + STEPS * Math.floor((y - y0) * STEPS)];
      const colour = colours[k];
      for (let row = 0, m = 0; row < size; row++) {
        for (let p = (y0 + row) * width + x0, end = p + size; p < end; p++, m++) {
          if (covers[m] === 256) pixels[p] = colour;
          else if (covers[m] !== 0) pixels[p] = mix(pixels[p], colour, covers[m]);
        }
      }
    }
  }

  show() {
    this.context.putImageData(this.image, 0, 0);
  }
}

/** From one colour to another, by so many 256ths; red and blue in one multiplication.
 * @param {number} from @param {number} to @param {number} share */
export function mix(from, to, share) {
  const stays = 256 - share;
  const outer = (((from & 0xff00ff) * stays + (to & 0xff00ff) * share) >>> 8) & 0xff00ff;
  const middle = (((from & 0x00ff00) * stays + (to & 0x00ff00) * share) >>> 8) & 0x00ff00;
  return (0xff000000 | outer | middle) >>> 0;
}
