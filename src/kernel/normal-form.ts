/** More combining marks in a row than any script or any play with them needs. */
const LONG_RUN = /[\p{M}--\u034f]{64}(?=[\p{M}--\u034f])/gv
/** Marks are not put in order across it. */
const JOINER = '\u034f'

/**
 * A text in a Unicode normal form, in time linear in its length: putting the marks on one letter in order takes the square
 * of their number, so a run of more than 64 is divided by a combining grapheme joiner, as the stream-safe text format does
 * (UAX 15, section 13).
 */
export const normalForm = (text: string, form: 'NFC' | 'NFKC'): string => text.replace(LONG_RUN, `$&${JOINER}`).normalize(form)
