/** Slack's mrkdwn as plain text. */

/**
 * A mention, a link or a special word, which stands between the brackets. Brackets in the text
 * itself are escaped.
 */
const TOKEN = /<([^<>\n]+)>/g
const ESCAPED = /&(amp|lt|gt);/g
const CHARACTERS: Record<string, string> = { amp: '&', lt: '<', gt: '>' }
const MENTION = /^<@([A-Z0-9]+)(?:\|[^<>\n]*)?>[\s,:]*/

const decodeEntities = (text: string): string =>
  text.replace(ESCAPED, (_, name: string) => CHARACTERS[name]!)

/**
 * Shows both label and address, so that no label hides where a link leads. If they are the same,
 * shows one.
 */
const linkOf = (url: string, label: string): string => {
  const address = url.replace(/^(mailto|tel):/, '')
  if (label === '' || label === address || `https://${label}` === url || `http://${label}` === url)
    return address
  return `${label} (${address})`
}

/** `!here`, `!subteam^S012|@crew`, `!date^…|in words`. */
const specialOf = (name: string, label: string): string => {
  if (name.startsWith('!date')) return label
  if (label !== '') return label.startsWith('@') ? label : `@${label}`
  return `@${name.slice(1).replace(/^subteam\^/, '')}`
}

const tokenOf = (inside: string): string => {
  const bar = inside.indexOf('|')
  const name = bar < 0 ? inside : inside.slice(0, bar)
  const label = bar < 0 ? '' : inside.slice(bar + 1)
  if (name.startsWith('@')) return label === '' ? name : `@${label}`
  if (name.startsWith('#')) return label === '' ? name : `#${label}`
  return name.startsWith('!') ? specialOf(name, label) : linkOf(name, label)
}

/** The text without leading mentions of `ownUser`. */
export const plainTextOf = (mrkdwn: string, ownUser: string | undefined): string => {
  let text = mrkdwn.trimStart()
  for (
    let mention = MENTION.exec(text);
    mention && mention[1] === ownUser;
    mention = MENTION.exec(text)
  )
    text = text.slice(mention[0].length)
  return decodeEntities(text.replace(TOKEN, (_, inside: string) => tokenOf(inside))).trim()
}
