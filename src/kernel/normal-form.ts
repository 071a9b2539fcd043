/** More consecutive combining marks than any script needs, even in playful text. */
const LONG_RUN = /[\p{M}--\u034f]{64}(?=[\p{M}--\u034f])/gv
/** A combining grapheme joiner: normalisation does not reorder marks across it. */
const JOINER = '\u034f'

/**
 * A text in a Unicode normal form, in time linear in its length. Ordering the marks on one letter
 * takes time quadratic in their number, so a combining grapheme joiner divides runs of more than
 * 64, as in the stream-safe text format (UAX 15, section 13).
 */
export const normalForm = (text: string, form: 'NFC' | 'NFKC'): string =>
  text.replace(LONG_RUN, `$&${JOINER}`).normalize(form)
