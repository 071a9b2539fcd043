/** JSON with sorted keys: equal values have equal text. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, child) =>
    child && typeof child === 'object' && !Array.isArray(child)
      ? Object.fromEntries(Object.entries(child).sort(([a], [b]) => (a < b ? -1 : 1)))
      : child,
  )
