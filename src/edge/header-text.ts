const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const ASCII = /^[\0-\x7f]*$/

/**
 * A header as text. Bun returns one character per byte. They are decoded as UTF-8 if they are
 * valid, and otherwise kept as Latin-1.
 */
export const headerText = ({ headers }: Request, name: string): string | undefined => {
  const bytes = headers.get(name) ?? undefined
  if (bytes === undefined || ASCII.test(bytes)) return bytes
  try {
    return utf8.decode(Buffer.from(bytes, 'latin1'))
  } catch {
    return bytes
  }
}
