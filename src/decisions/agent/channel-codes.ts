/** Codes that link senders of channels to members. */
import { randomInt } from 'node:crypto'
import { CODE_LENGTH, CODE_LETTERS, writeUserCode } from '#domain/app/device'

/** `shown`: the letters as people read them. */
export const newLinkCode = (): { letters: string; shown: string } => {
  const letters = Array.from(
    { length: CODE_LENGTH },
    () => CODE_LETTERS[randomInt(CODE_LETTERS.length)],
  ).join('')
  return { letters, shown: writeUserCode(letters) }
}
