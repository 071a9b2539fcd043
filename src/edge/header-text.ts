const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const ASCII = /^[\0-\x7f]*$/

/**
 * A header as text. Bun gives one character per byte; decodes them as UTF-8 if they are valid, else
 * keeps them as Latin-1.
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
