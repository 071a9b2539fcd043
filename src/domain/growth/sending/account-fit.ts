/** Whether an account can take what was drafted. */
import type { LengthLimits } from '../drafting/growth-channel.ts'
import type { Item } from '../drafting/item.ts'
import { refuseNaming } from '../way-on.ts'
import type { Connection } from './connection.ts'

interface Fitting {
  account: Pick<Connection, 'handle' | 'network'> | undefined
  limits: LengthLimits
}

/** Why an account can take no articles; undefined if it can, or if there is no account. */
export const faultOfArticles = ({ account, limits }: Fitting): string | undefined =>
  account && limits.maxLongLength === null
    ? `@${account.handle} on ${account.network} takes no articles: a post there has at most ${limits.maxLength} characters`
    : undefined

/** Throws `conflict`, naming the accounts. */
export const requireTaken = (item: Pick<Item, 'kind'>, fitting: Fitting): void => {
  const fault = item.kind === 'article' ? faultOfArticles(fitting) : undefined
  if (fault)
    refuseNaming(
      'missing_prerequisite',
      `cannot approve: ${fault}; choose another account`,
      'growth.connections.list',
    )
}

/** A draft, with the beginning of its text. */
export interface DraftedText extends Pick<Item, 'id' | 'kind'> {
  /** At most `MOST_WEIGHED` characters. */
  body: string
}

export interface Unfit {
  item_id: string
  message: string
}

export interface AccountRules extends Fitting {
  limits: LengthLimits & { measure(text: string): number }
  /** Whether somebody on the network can have this name, which has no `@`. */
  isHandle(name: string): boolean
}

/** Longer texts are not counted to their end, because the loop that counts is everybody's. */
export const MOST_WEIGHED = 4_000

const NAMED = /(?<![\p{L}\p{N}_@./-])@([\p{L}\p{N}_.-]{0,300}[\p{L}\p{N}_])/gu

const lengthFault = (body: string, { limits }: AccountRules): string | undefined => {
  const length = limits.measure(body)
  if (length <= limits.maxLength) return undefined
  const said = body.length >= MOST_WEIGHED ? `more than ${limits.maxLength}` : length
  return `is ${said} characters long as the network counts; the maximum is ${limits.maxLength}`
}

const nameFault = (body: string, { isHandle }: AccountRules): string | undefined => {
  for (const [, name = ''] of body.matchAll(NAMED))
    if (!isHandle(name)) return `names @${name}, which is no handle there`
  return undefined
}

/** Drafts that an account cannot take as they are, or that name somebody of another network. */
export const unfitFor = (drafts: readonly DraftedText[], rules: AccountRules): Unfit[] =>
  drafts.flatMap(({ id, kind, body }) => {
    const faults =
      kind === 'article'
        ? [faultOfArticles(rules)]
        : [lengthFault(body, rules), nameFault(body, rules)]
    const found = faults.filter((fault) => fault !== undefined)
    return found.length === 0 ? [] : [{ item_id: id, message: found.join('; ') }]
  })
