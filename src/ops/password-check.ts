/** Comparing passwords, within limits that hold for accounts that exist and for others alike. */
import { networkOf } from '#domain/app/network-of'
import { emailKey, joinLimit, passwordLimits } from '#domain/app/person'
import { AppError, fail } from '#kernel/errors'
import type { KnownBrowser } from '#port/tokens'
import { MOST_CANDIDATES, passwordHashOf, type SignInCandidate } from '#store/app/people'
import { forgetTries, returnTry, type Throttled, takeTry } from '#store/app/throttle'
import type { VisitContext } from './call.ts'

/** The same for every way in which it can be wrong. */
export const WRONG = 'the email or the password is wrong'

export const WRONG_OWN = 'the password is wrong'

/** `what` keeps the counters of different operations apart: guesses at one do not block another. */
export const countedFor = (account: string, address: string, what = 'password'): Throttled[] => [
  { name: `${what} pair ${account} ${networkOf(address)}`, limit: passwordLimits.pair },
  { name: `${what} account ${account}`, limit: passwordLimits.account },
]

const countedFrom = (address: string): Throttled => ({ name: `password address ${networkOf(address)}`, limit: passwordLimits.address })

/**
 * Counts a try, and gives it back where `compare` finds something, which also forgets the wrong tries of its pair: unless the account
 * is one of several that claim the address. A squatter's own password must not buy more guesses at the password of the owner.
 * Throws `rate_limited:sign_in`.
 */
const limited = async <T extends Pick<SignInCandidate, 'hash'> & Partial<SignInCandidate>>(
  { db }: VisitContext,
  counted: Throttled[],
  compare: () => Promise<T | undefined>,
): Promise<T | undefined> => {
  // Counted before it is known to be wrong: a thousand at once are a thousand tries.
  await takeTry(db, 'sign_in', counted)
  const found = await compare()
  if (found === undefined) return undefined
  const [pair, ...others] = counted
  if (found.disputed) await returnTry(db, counted)
  else {
    await forgetTries(db, [pair!])
    await returnTry(db, others)
  }
  return found
}

const matching = async (
  { identity, visit }: VisitContext,
  password: string,
  accounts: readonly SignInCandidate[],
): Promise<SignInCandidate | undefined> => {
  const known = { hashes: accounts.map(({ hash }) => hash), work: MOST_CANDIDATES, party: networkOf(visit.address) }
  return accounts[await identity.passwords.find(password, known)]
}

export interface Offered {
  email: string
  password: string
  /** Those that it may be the password of. */
  accounts: readonly SignInCandidate[]
  /** From where they are offered. */
  browser?: KnownBrowser | undefined
}

/** Tries from a browser in which the owner of one of these accounts has signed in before: nobody else's guesses count here. */
const countedIn = ({ id, personId }: KnownBrowser): Throttled[] => [
  { name: `password browser ${id}`, limit: passwordLimits.pair },
  { name: `password browsers of ${personId}`, limit: passwordLimits.account },
]

/**
 * The account whose password this is. Throws `unauthenticated`, the same whether or not there is any account.
 *
 * In a browser that is known, its own account is compared first, within tries that only this browser uses up. Others that have the
 * address are compared within the tries that all share: an account that squats there gives nobody more guesses at its owner's.
 */
export const requireAccount = async (context: VisitContext, offered: Offered): Promise<SignInCandidate> => {
  const { password, accounts, browser } = offered
  const known = accounts.filter(({ id }) => id === browser?.personId)
  if (known.length === 0) return (await amongAll(context, offered)) ?? fail('unauthenticated', WRONG)
  const own = await limited(context, countedIn(browser!), () => matching(context, password, known))
  if (own) return own
  const others = { ...offered, accounts: accounts.filter((one) => !known.includes(one)) }
  const other = await amongAll(context, others).catch((cause) => {
    // Who has only mistyped their own is not told to wait for what others have used up.
    if (AppError.from(cause).code !== 'rate_limited') throw cause
  })
  return other ?? fail('unauthenticated', WRONG)
}

const amongAll = (context: VisitContext, { email, password, accounts }: Offered): Promise<SignInCandidate | undefined> => {
  const { address } = context.visit
  return limited(context, [...countedFor(emailKey(email), address), countedFrom(address)], () => matching(context, password, accounts))
}

/**
 * The same for somebody who joins: undefined where the password is that of no account, which counts as a wrong one. Each such try
 * uses an invitation up, so an address has more of them: a whole company may join from one.
 */
export const accountOfJoiner = (context: VisitContext, { email, password, accounts }: Offered): Promise<SignInCandidate | undefined> => {
  const { address } = context.visit
  const counted = [...countedFor(emailKey(email), address, 'join'), { name: `join address ${networkOf(address)}`, limit: joinLimit }]
  return limited(context, counted, () => matching(context, password, accounts))
}

/**
 * The hash that the password of whoever is signed in was compared with: whatever depends on the comparison holds only while it is
 * still that. Throws `unauthenticated`. Others' wrong guesses at the account do not count here.
 */
export const requireOwnPassword = async (context: VisitContext, { id }: { id: string }, password: string): Promise<string> => {
  const counted = countedFor(`person ${id}`, context.visit.address)
  const compare = async () => {
    const hash = await passwordHashOf(context.db, id)
    const known =
      hash !== undefined && (await context.identity.passwords.verify(password, { hash, party: networkOf(context.visit.address) }))
    return known ? { hash } : undefined
  }
  return ((await limited(context, counted, compare)) ?? fail('unauthenticated', WRONG_OWN)).hash
}
