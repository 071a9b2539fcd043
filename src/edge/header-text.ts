const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const ASCII = /^[\0-\x7f]*$/

/** A header as text. Bun gives a character for each byte; bytes that are valid UTF-8 are read as such, others stay Latin-1. */
export const headerText = ({ headers }: Request, name: string): string | undefined => {
  const bytes = headers.get(name) ?? undefined
  if (bytes === undefined || ASCII.test(bytes)) return bytes
  try {
    return utf8.decode(Buffer.from(bytes, 'latin1'))
  } catch {
    return bytes
  }
}
