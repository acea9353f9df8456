/** A value that calls its listeners when it is replaced. */

/**
 * @template T
 * @typedef {(value: T, before: T) => void} Listener
 */

/**
 * @template T
 * @typedef {{readonly value: T, set: (value: T) => void, on: (listener: Listener<T>) => void}} Signal
 */

/**
 * @template T
 * @param {T} value
 * @returns {Signal<T>}
 */
export function signal(value) {
  /** @type {Listener<T>[]} */
  const listeners = [];
  return {
    get value() {
      return value;
    },
    set(next) {
      const before = value;
      value = next;
      for (const listener of listeners) listener(next, before);
    },
    on(listener) {
      listeners.push(listener);
    },
  };
}

/**
 * A signal of something that is not known yet.
 *
 * @template T
 * @returns {Signal<T | null>}
 */
export function unknown() {
  return signal(/** @type {T | null} */ (null));
}
