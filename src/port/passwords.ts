/** Passwords as argon2id. Few at a time: each takes its share of memory on purpose. */
import { FairLimit } from '#kernel/fair-limit'

export interface Passwords {
  /** `party`: whose turn it takes, so that who tries a thousand waits behind himself; an address. */
  hash(password: string, party: string): Promise<string>
  /** Whether it is the password of this hash. */
  verify(password: string, known: { hash: string; party: string }): Promise<boolean>
  /**
   * Which of these hashes it is the password of, or -1. Always compares `work` times, and as long where it has found one: neither
   * how many there are nor which it is can be told by the time it takes.
   */
  find(password: string, known: { hashes: readonly string[]; work: number; party: string }): Promise<number>
}

/** The least that OWASP advises for argon2id: 19 MiB, two passes. */
const COST = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
const LIMIT = { name: 'password check', limit: 4, bound: 64, withinMs: 5_000 }

export const createPasswords = (): Passwords => {
  const limit = new FairLimit(LIMIT)
  const hash = (password: string, party: string): Promise<string> =>
    limit.run(party, () => Bun.password.hash(password.normalize('NFC'), COST))
  let nobodys: Promise<string> | undefined
  return {
    hash,
    verify: (password, { hash: known, party }) => limit.run(party, () => Bun.password.verify(password.normalize('NFC'), known)),
    async find(password, { hashes, work, party }) {
      nobodys ??= Bun.password.hash('nobody has this password', COST)
      const against = [...hashes, ...new Array<string>(Math.max(0, work - hashes.length)).fill(await nobodys)]
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
