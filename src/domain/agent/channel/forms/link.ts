/** Links that the agent writes, whose words may have been put into its mouth. */

const SCHEMES = ['http:', 'https:', 'mailto:', 'tel:']
/** Whatever means something to a channel's markup or to HTML is escaped in an address. */
const CLEAN = /^[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/
const LONGEST = 2_000

/**
 * The address that may be linked; undefined if it is none, or could do more than open a page or
 * begin a message.
 */
export const linkTo = (href: string): string | undefined => {
  const url = href.length <= LONGEST ? URL.parse(href) : null
  if (!url || !SCHEMES.includes(url.protocol) || url.username !== '' || url.password !== '')
    return undefined
  const clean = CLEAN.test(href) ? href : url.href
  return CLEAN.test(clean) ? clean : undefined
}

const PREFIXES = ['', 'http://', 'https://', 'mailto:', 'tel:']
/** Of words without any of these, nothing but a host can become of an address. */
const ADDRESSED = /[.:/@%?#\d]|[^\0-\x7f]/

/**
 * Whether the words are the address itself. Parsing takes long for a text of thousands of links, so
 * it is done where it can matter.
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
/** Longer words are not searched for an address. */
const LONGEST_LABEL = 200

/** Whether the words name an address, and another one than the link leads to. */
export const isDisguised = (label: string, href: string): boolean =>
  !isBare(label, href) && (label.length > LONGEST_LABEL || NAMES_HOST.test(label))
