import { randomBytes } from 'node:crypto'

/** A uuid v7, which sorts by its time of creation. */
export const newId = (): string => Bun.randomUUIDv7()

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Whether a text is a uuid in the form that the database gives. */
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
  for (let rest = value; rest > 0; rest = Math.floor(rest / ALPHABET.length)) text = ALPHABET[rest % ALPHABET.length] + text
  return text.padStart(length, '0')
}
