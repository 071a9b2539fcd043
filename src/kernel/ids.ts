import { randomBytes } from 'node:crypto'

/**
 * A clock that is behind the latest id by more than this was corrected on purpose, so ids follow
 * it.
 */
const FOLLOWED_BACK_MS = 60_000

/**
 * How many ids of one millisecond are sure to share its prefix: Bun numbers them with 12 bits,
 * starting from a random number in the lower half.
 */
const IN_ONE_MS = 2_048

let latest = 0
let made = 0

/**
 * A uuid v7, which sorts by its time of creation. The ids of one process stay in order even when
 * its clock steps back by up to a minute, as it may on machines that follow a time server.
 */
export const newId = (): string => {
  const now = Date.now()
  if (now > latest || now < latest - FOLLOWED_BACK_MS) [latest, made] = [now, 0]
  if (made === IN_ONE_MS) [latest, made] = [latest + 1, 0]
  made++
  return Bun.randomUUIDv7('hex', latest)
}

/** An id that comes before all of that millisecond and after all earlier ones. */
export const firstIdAt = (ms: number): string => {
  const hex = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Whether a text is a uuid in the form that the database returns. */
export const isUuid = (text: string): boolean => UUID.test(text)

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BIASED_FROM = 256 - (256 % ALPHABET.length)

/** `length` characters, uniformly random, from 0-9A-Za-z. */
export const randomBase62 = (length: number): string => {
  let text = ''
  while (text.length < length)
    for (const byte of randomBytes(length)) {
      if (byte < BIASED_FROM && text.length < length) text += ALPHABET[byte % ALPHABET.length]
    }
  return text
}

/** A non-negative integer in base 62, padded on the left with `0`. */
export const toBase62 = (value: number, length: number): string => {
  let text = ''
  for (let rest = value; rest > 0; rest = Math.floor(rest / ALPHABET.length))
    text = ALPHABET[rest % ALPHABET.length] + text
  return text.padStart(length, '0')
}
