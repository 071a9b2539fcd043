/**
 * Mail addresses. Only upper and lower case count as equal; letters that merely look alike stay
 * different.
 */
import { beginning, storable } from '#kernel/storable'

export interface MailAddress {
  /** In lower case. */
  address: string
  name: string | null
}

/**
 * Excludes quoted names, routes and literal addresses, which people do not use, and invisible
 * characters.
 */
const ADDRESS = /^[^\s@<>()[\]\\,;:"\p{Cc}\p{Cf}]{1,64}@[^\s@<>()[\]\\,;:"\p{Cc}\p{Cf}]{1,255}$/u
const LONGEST_HEADER = 2_000
const LONGEST_NAME = 200
const UNSEEN = /[\p{Cc}\p{Cf}]+/gu

/** The address in lower case; undefined if the text is not an address. */
export const parseMailAddress = (text: string): string | undefined => {
  const address = text.trim().toLowerCase()
  return ADDRESS.test(address) ? address : undefined
}

interface Scanned {
  /** The text outside brackets and comments. */
  words: string
  /** The text between angle brackets, one entry for each pair. */
  angles: string[]
  /** Whether there are commas or other signs of more than one mailbox. */
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
 * The mailbox that a `From` header names. Undefined if it names no address, or more than one. A
 * name that looks like somebody's address is still only a name.
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

/** The addresses of a list that is separated by commas. Assumes that no address contains one. */
export const addressesIn = (list: string): string[] => list.slice(0, 10 * LONGEST_HEADER).split(',')

/**
 * The address itself, and the address without a `+` part: mail to agent+berlin@example.com is also
 * for agent@example.com.
 */
export const mailRoutes = (address: string): string[] => {
  const [, local, domain] = /^([^+@]+)\+[^@]*(@.+)$/.exec(address) ?? []
  return local === undefined ? [address] : [address, `${local}${domain}`]
}

export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

/** Senders whose names show that they are machines. */
const MACHINE =
  /^(mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?|auto-?reply|notifications?)([+_.-].*)?@/

export const isMachine = (address: string): boolean => MACHINE.test(address)
