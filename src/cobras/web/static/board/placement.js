/** Where the cards of a board lie, with every step that led there. Pure: it knows nothing of the page. */

/** A card that the person cannot place. */
export const UNSURE = -1;

/**
 * After each step: the slot of each card (a pile of the board, a new one after these, or UNSURE), and the piles that
 * were put together, each with the one it was put on.
 *
 * @typedef {{places: Map<number, number>, joined: Map<number, number>}} Step
 */

export class Placement {
  /** @param {number[]} cards rows to be placed @param {number[]} piles one row for each pile that is known */
  constructor(cards, piles) {
    this.cards = cards;
    this.piles = piles;
    /** @type {Step[]} */
    this.steps = [{ places: new Map(), joined: new Map() }];
  }

  get now() {
    return this.steps[this.steps.length - 1];
  }

  get n_steps() {
    return this.steps.length - 1;
  }

  /** How many piles there are, with new ones up to the last that holds a card. */
  get n_slots() {
    return Math.max(this.piles.length, ...[...this.now.places.values()].map((slot) => slot + 1));
  }

  /** The piles that are one with others only once, each with all its slots. @returns {number[][]} */
  get together() {
    const slots = Array.from({ length: this.n_slots }, (_, slot) => slot);
    const roots = slots.filter((slot) => this.root(slot) === slot);
    return roots.map((root) => slots.filter((slot) => this.root(slot) === root));
  }

  /** The rows on each pile, the one that stands for it included. @returns {number[][]} */
  rowsBySlot() {
    const slots = Array.from({ length: this.n_slots }, (_, slot) => slot);
    return slots.map((slot) => [...this.piles.slice(slot, slot + 1), ...(this.root(slot) === slot ? this.on(slot) : [])]);
  }

  /** The pile that a slot is part of now. @param {number} slot @returns {number} */
  root(slot) {
    const next = this.now.joined.get(slot);
    return next === undefined ? slot : this.root(next);
  }

  /** The pile that a card lies on, or UNSURE. @param {number} row @returns {number | undefined} */
  slotOf(row) {
    const slot = this.now.places.get(row);
    return slot === undefined ? undefined : this.root(slot);
  }

  /** The cards on a pile. @param {number} slot */
  on(slot) {
    return this.cards.filter((row) => this.slotOf(row) === this.root(slot));
  }

  /** The cards that lie nowhere. */
  get left() {
    return this.cards.filter((row) => !this.now.places.has(row));
  }

  /** Put a card on a pile, or take it back where the slot is null; false where that changes nothing.
   * @param {number} row @param {number | null} slot */
  put(row, slot) {
    if (slot === (this.now.places.get(row) ?? null)) return false;
    const places = new Map(this.now.places);
    if (slot === null) places.delete(row);
    else places.set(row, slot);
    this.steps.push({ ...this.now, places });
    return true;
  }

  /** Put a card where another one lies; together on a new pile where that one lies nowhere.
   * @param {number} row @param {number} other @returns {number} the slot */
  putWith(row, other) {
    const slot = this.slotOf(other) ?? UNSURE;
    const target = slot === UNSURE ? this.freeSlot() : slot;
    const places = new Map([...this.now.places, [row, target], [other, target]]);
    this.steps.push({ ...this.now, places });
    return target;
  }

  /** Put two piles together; false where they are one already. @param {number} a @param {number} b */
  join(a, b) {
    const [first, second] = [this.root(a), this.root(b)].sort((x, y) => x - y);
    if (first === second) return false;
    this.steps.push({ ...this.now, joined: new Map([...this.now.joined, [second, first]]) });
    return true;
  }

  /** The first new pile that holds nothing. */
  freeSlot() {
    let slot = this.piles.length;
    while (this.root(slot) !== slot || this.on(slot).length) slot += 1;
    return slot;
  }

  /** Take back the last step; the cards that moved. */
  undo() {
    const before = this.now;
    if (this.n_steps) this.steps.pop();
    return this.cards.filter((row) => before.places.get(row) !== this.now.places.get(row));
  }

  /** The next card that lies nowhere, after this one; the same one where all are placed. @param {number} row */
  next(row) {
    const at = this.cards.indexOf(row);
    const order = [...this.cards.slice(at + 1), ...this.cards.slice(0, at + 1)];
    return order.find((card) => !this.now.places.has(card)) ?? row;
  }

  /** Rows that belong together, for the server: those of piles that hold a card, or that were put together. */
  groups() {
    return this.together
      .map((slots) => [...slots.flatMap((slot) => this.piles.slice(slot, slot + 1)), ...this.on(slots[0])])
      .filter((rows) => rows.length > 1 || this.cards.includes(rows[0]));
  }
}
