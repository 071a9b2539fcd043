/** Links that the agent writes, whose words may have been put into its mouth. */

const SCHEMES = ['http:', 'https:', 'mailto:', 'tel:']
/** Whatever means something to a channel's markup or to HTML is escaped in an address. */
const CLEAN = /^[\w\-.~:/?#[\]@!$&'()*+,;=%]+$/
const LONGEST = 2_000

/** The address that may be linked; undefined if it is none, or could do more than open a page or begin a message. */
export const linkTo = (href: string): string | undefined => {
  const url = href.length <= LONGEST ? URL.parse(href) : null
  if (!url || !SCHEMES.includes(url.protocol) || url.username !== '' || url.password !== '') return undefined
  const clean = CLEAN.test(href) ? href : url.href
  return CLEAN.test(clean) ? clean : undefined
}

/** Whether the words are the address itself. */
export const isBare = (label: string, href: string): boolean =>
  [label, `http://${label}`, `https://${label}`, `mailto:${label}`, `tel:${label}`].some(
    (text) => (URL.parse(text)?.href ?? text) === href,
  ) || URL.parse(label)?.href === URL.parse(href)?.href

const NAMES_HOST = /(?:[\p{L}\p{N}-]{1,63}\.)+\p{L}{2,}|:\/\//u
/** Longer words are not searched for an address. */
const LONGEST_LABEL = 200

/** Whether the words name an address, and another one than the link leads to. */
export const isDisguised = (label: string, href: string): boolean =>
  !isBare(label, href) && (label.length > LONGEST_LABEL || NAMES_HOST.test(label))
