const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Whether a text names a handle with `@`, not only another that begins with it. */
export const namesHandle = (text: string, handle: string): boolean =>
  new RegExp(`@${escapePattern(handle)}(?![A-Za-z0-9_-]|\\.[A-Za-z0-9])`, 'i').test(text)
