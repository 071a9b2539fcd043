/** Links that the agent writes. Somebody may have tricked it into writing them. */

const SCHEMES = ['http:', 'https:', 'mailto:', 'tel:']
/** Any character with a meaning in a channel's markup or in HTML is escaped in an address. */
const CLEAN = /^[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/
const LONGEST = 2_000

/**
 * The address if it may be linked; undefined if it is no address, or could do more than open a page
 * or begin a message.
 */
export const linkTo = (href: string): string | undefined => {
  const url = href.length <= LONGEST ? URL.parse(href) : null
  if (!url || !SCHEMES.includes(url.protocol) || url.username !== '' || url.password !== '')
    return undefined
  const clean = CLEAN.test(href) ? href : url.href
  return CLEAN.test(clean) ? clean : undefined
}

const PREFIXES = ['', 'http://', 'https://', 'mailto:', 'tel:']
/** Words without any of these can be no part of an address but a host. */
const ADDRESSED = /[.:/@%?#\d]|[^\0-\x7f]/

/**
 * Whether the words are the address itself. Parsing is slow for a text with thousands of links, so
 * it happens only where it can matter.
 */
export const isBare = (label: string, href: string): boolean => {
  const plain = href.toLowerCase()
  if (
    PREFIXES.some((prefix) =>
      [`${prefix}${label}`, `${prefix}${label.toLowerCase()}/`].includes(href),
    )
  )
    return true
  if (!ADDRESSED.test(label))
    return PREFIXES.some((prefix) => `${prefix}${label.toLowerCase()}/` === plain)
  return (
    PREFIXES.some((prefix) => URL.parse(`${prefix}${label}`)?.href === href) ||
    URL.parse(label)?.href === URL.parse(href)?.href
  )
}

const NAMES_HOST = /(?:[\p{L}\p{N}-]{1,63}\.)+\p{L}{2,}|:\/\//u
/** Longer words are not checked for an address. */
const LONGEST_LABEL = 200

/** Whether the words name an address other than the one that the link leads to. */
export const isDisguised = (label: string, href: string): boolean =>
  !isBare(label, href) && (label.length > LONGEST_LABEL || NAMES_HOST.test(label))
