/** Password checks, with limits that are the same for existing and unknown accounts. */
import { networkOf } from '#domain/app/network-of'
import { emailKey, joinLimit, passwordLimits } from '#domain/app/person'
import { AppError, fail } from '#kernel/errors'
import type { KnownBrowser } from '#port/tokens'
import { MOST_CANDIDATES, passwordHashOf, type SignInCandidate } from '#store/app/people'
import { forgetTries, returnTry, type Throttled, takeTry } from '#store/app/throttle'
import type { VisitContext } from '../../engine/call.ts'

/** One message for every reason, so that it reveals nothing about accounts. */
export const WRONG = 'the email or the password is wrong'

export const WRONG_OWN = 'the password is wrong'

/** `what`: a separate counter per operation, so that guesses at one do not block another. */
export const accountLimits = (account: string, address: string, what = 'password'): Throttled[] => [
  { name: `${what} pair ${account} ${networkOf(address)}`, limit: passwordLimits.pair },
  { name: `${what} account ${account}`, limit: passwordLimits.account },
]

const addressLimit = (address: string): Throttled => ({
  name: `password address ${networkOf(address)}`,
  limit: passwordLimits.address,
})

/**
 * Counts an attempt and, if `compare` succeeds, returns it and forgets the failed attempts of the
 * pair. It forgets none if several accounts claim the address: a squatter could otherwise use their
 * own password to get more guesses at the owner's. Throws `rate_limited:sign_in`.
 */
const withinLimits = async <T extends Pick<SignInCandidate, 'hash'> & Partial<SignInCandidate>>(
  { db }: VisitContext,
  limits: Throttled[],
  compare: () => Promise<T | undefined>,
): Promise<T | undefined> => {
  // Counts before comparing, so that concurrent attempts cannot exceed the limit.
  await takeTry(db, 'sign_in', limits)
  const found = await compare()
  if (found === undefined) return undefined
  const [pair, ...others] = limits
  if (found.disputed) await returnTry(db, limits)
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
  const known = {
    hashes: accounts.map(({ hash }) => hash),
    work: MOST_CANDIDATES,
    party: networkOf(visit.address),
  }
  return accounts[await identity.passwords.find(password, known)]
}

export interface PasswordAttempt {
  email: string
  password: string
  /** The accounts that the password may belong to. */
  accounts: readonly SignInCandidate[]
  browser?: KnownBrowser | undefined
}

/**
 * Limits of a known browser: an owner of one of these accounts has signed in with it. Nobody else's
 * guesses count here.
 */
const browserLimits = ({ id, personId }: KnownBrowser): Throttled[] => [
  { name: `password browser ${id}`, limit: passwordLimits.pair },
  { name: `password browsers of ${personId}`, limit: passwordLimits.account },
]

/**
 * The account with this password. Throws `unauthenticated`, whether or not any account exists.
 *
 * In a known browser, compares its own account first, within limits that only this browser uses up.
 * Other accounts with the same address are compared within the shared limits, so a squatter's
 * account gives nobody more guesses at the owner's.
 */
export const requireAccount = async (
  context: VisitContext,
  attempt: PasswordAttempt,
): Promise<SignInCandidate> => {
  const { password, accounts, browser } = attempt
  const known = accounts.filter(({ id }) => id === browser?.personId)
  if (known.length === 0)
    return (await amongAll(context, attempt)) ?? fail('unauthenticated', WRONG)
  const own = await withinLimits(context, browserLimits(browser!), () =>
    matching(context, password, known),
  )
  if (own) return own
  const others = { ...attempt, accounts: accounts.filter((one) => !known.includes(one)) }
  const other = await amongAll(context, others).catch((cause) => {
    // Someone who mistyped their own password need not wait because others have used up the shared
    // limits.
    if (AppError.from(cause).code !== 'rate_limited') throw cause
  })
  return other ?? fail('unauthenticated', WRONG)
}

const amongAll = (
  context: VisitContext,
  { email, password, accounts }: PasswordAttempt,
): Promise<SignInCandidate | undefined> => {
  const { address } = context.visit
  return withinLimits(
    context,
    [...accountLimits(emailKey(email), address), addressLimit(address)],
    () => matching(context, password, accounts),
  )
}

/**
 * The account of a person who joins; undefined if no account has this password, which counts as a
 * failed attempt. The limit of an address is higher than for signing in: a whole company may join
 * from one, and each attempt uses up an invitation.
 */
export const accountOfJoiner = (
  context: VisitContext,
  { email, password, accounts }: PasswordAttempt,
): Promise<SignInCandidate | undefined> => {
  const { address } = context.visit
  const limits = [
    ...accountLimits(emailKey(email), address, 'join'),
    { name: `join address ${networkOf(address)}`, limit: joinLimit },
  ]
  return withinLimits(context, limits, () => matching(context, password, accounts))
}

/**
 * Checks the password of a signed-in person and returns its hash. A change that depends on the
 * check must require that the hash is still the same. Throws `unauthenticated`. Failed attempts of
 * others do not count here.
 */
export const requireOwnPassword = async (
  context: VisitContext,
  { id }: { id: string },
  password: string,
): Promise<string> => {
  const limits = accountLimits(`person ${id}`, context.visit.address)
  const compare = async () => {
    const hash = await passwordHashOf(context.db, id)
    const known =
      hash !== undefined &&
      (await context.identity.passwords.verify(password, {
        hash,
        party: networkOf(context.visit.address),
      }))
    return known ? { hash } : undefined
  }
  return ((await withinLimits(context, limits, compare)) ?? fail('unauthenticated', WRONG_OWN)).hash
}
