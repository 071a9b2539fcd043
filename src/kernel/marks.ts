/** The tags that set strangers' words apart for a model: `<untrusted-…>`, with a name that nobody outside could know. */
import { randomBytes } from 'node:crypto'

const BEGINNING = 'untrusted-'
const MARK = /<\/?untrusted-[0-9a-f]{16}>/

export const newMarkName = (): string => `${BEGINNING}${randomBytes(8).toString('hex')}`

/** A model may repeat them with the words that they stand around. */
export const withoutMarks = (text: string): string => text.replaceAll(new RegExp(MARK, 'g'), '')

/** The first such tag in a text: only an answer of ours can have brought it there. */
export const markIn = (text: string): string | undefined => MARK.exec(text)?.[0]
