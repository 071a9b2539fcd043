/**
 * Passwords as argon2id hashes. Only a few are computed at a time, because each takes much memory
 * on purpose.
 */
import { FairLimit } from '#kernel/fair-limit'

export interface Passwords {
  /**
   * `party` is an address. Turns are granted by party, so that a flood from one address delays only
   * itself.
   */
  hash(password: string, party: string): Promise<string>
  /** Whether the password matches the hash. */
  verify(password: string, known: { hash: string; party: string }): Promise<boolean>
  /**
   * The index of the hash that matches, or -1. Always makes `work` comparisons, so that the time
   * reveals neither how many hashes there are nor which one matches.
   */
  find(
    password: string,
    known: { hashes: readonly string[]; work: number; party: string },
  ): Promise<number>
}

/** What an argon2id hash costs: KiB of memory, and passes over it. */
export interface PasswordCost {
  memoryCost: number
  timeCost: number
}

/** OWASP's minimum: 19 MiB, two passes. */
const COST: PasswordCost = { memoryCost: 19_456, timeCost: 2 }
const LIMIT = { name: 'password check', total: 4, bound: 64, withinMs: 5_000 }

export const createPasswords = (cost = COST): Passwords => {
  const argon2id = { algorithm: 'argon2id', ...cost } as const
  const limit = new FairLimit(LIMIT)
  const hash = (password: string, party: string): Promise<string> =>
    limit.run(party, () => Bun.password.hash(password.normalize('NFC'), argon2id))
  let nobodys: Promise<string> | undefined
  return {
    hash,
    verify: (password, { hash: known, party }) =>
      limit.run(party, () => Bun.password.verify(password.normalize('NFC'), known)),
    async find(password, { hashes, work, party }) {
      nobodys ??= Bun.password.hash('nobody has this password', argon2id)
      const against = [
        ...hashes,
        ...new Array<string>(Math.max(0, work - hashes.length)).fill(await nobodys),
      ]
      const text = password.normalize('NFC')
      return limit.run(party, async () => {
        let found = -1
        for (const [index, one] of against.entries()) {
          const same = await Bun.password.verify(text, one)
          if (same && found < 0 && index < hashes.length) found = index
        }
        return found
      })
    },
  }
}
