/** Addresses of mail. Letters that look alike stay different; only case is the same. */
import { beginning, storable } from '#kernel/storable'

export interface MailAddress {
  /** In lower case. */
  address: string
  name: string | null
}

/**
 * Without quoted names, routes and literal addresses, which people do not have. No character that
 * is not seen.
 */
const ADDRESS = /^[^\s@<>()[\]\\,;:"\p{Cc}\p{Cf}]{1,64}@[^\s@<>()[\]\\,;:"\p{Cc}\p{Cf}]{1,255}$/u
const LONGEST_HEADER = 2_000
const LONGEST_NAME = 200
const UNSEEN = /[\p{Cc}\p{Cf}]+/gu

/** In lower case; undefined if it is none. */
export const parseMailAddress = (text: string): string | undefined => {
  const address = text.trim().toLowerCase()
  return ADDRESS.test(address) ? address : undefined
}

interface Scanned {
  /** Outside of brackets and comments. */
  words: string
  /** Between angle brackets; each pair is one. */
  angles: string[]
  /** Commas and other signs of more than one mailbox. */
  hasMore: boolean
}

/** The end of a quoted string, a comment or an angle address that begins at `at`. */
const endOf = (text: string, at: number): number => {
  const closing = { '"': '"', '(': ')', '<': '>' }[text.charAt(at)]!
  let end = at + 1
  while (end < text.length && text.charAt(end) !== closing)
    end += text.charAt(end) === '\\' && closing !== '>' ? 2 : 1
  return end
}

const scan = (text: string): Scanned => {
  const found: Scanned = { words: '', angles: [], hasMore: false }
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === ',' || character === ';') found.hasMore = true
    if (!'"(<'.includes(character)) {
      found.words += character
      continue
    }
    const end = endOf(text, at)
    const inside = text.slice(at + 1, end)
    if (character === '<') found.angles.push(inside)
    if (character === '"') found.words += inside.replaceAll(/\\(.)/g, '$1')
    at = end
  }
  return found
}

/**
 * What a `From` header names; undefined if that is no address, or more than one. A name may look
 * like another's address: it is no address.
 */
export const mailboxOf = (header: string): MailAddress | undefined => {
  const { words, angles, hasMore } = scan(header.slice(0, LONGEST_HEADER))
  if (hasMore || angles.length > 1) return undefined
  const address = parseMailAddress(angles[0] ?? words)
  if (address === undefined) return undefined
  const name =
    angles.length === 1
      ? beginning(storable(words.replaceAll(UNSEEN, '').trim()), LONGEST_NAME)
      : ''
  return { address, name: name === '' ? null : name }
}

/** The addresses of a list between commas; none has one within. */
export const addressesIn = (list: string): string[] => list.slice(0, 10 * LONGEST_HEADER).split(',')

/**
 * The address itself, and what is before its `+`: mail to agent+berlin@example.com is for
 * agent@example.com, too.
 */
export const mailRoutes = (address: string): string[] => {
  const [, local, domain] = /^([^+@]+)\+[^@]*(@.+)$/.exec(address) ?? []
  return local === undefined ? [address] : [address, `${local}${domain}`]
}

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

/** Senders that are machines, by their names. */
const MACHINE =
  /^(mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?|auto-?reply|notifications?)([+_.-].*)?@/

export const isMachine = (address: string): boolean => MACHINE.test(address)
