/** Passwords as argon2id. Few at a time: each takes its share of memory on purpose. */
import { Turns } from '#kernel/turns'

export interface Passwords {
  /** `party`: whose turn it takes, so that who tries a thousand waits behind himself; an address. */
  hash(password: string, party: string): Promise<string>
  /** Takes as long where there is nothing to compare with: an unknown name is answered no sooner than a wrong password. */
  verify(password: string, known: { hash: string | undefined; party: string }): Promise<boolean>
}

/** The least that OWASP advises for argon2id: 19 MiB, two passes. */
const COST = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
const TURNS = { name: 'password check', limit: 4, bound: 64, withinMs: 5_000 }

export const createPasswords = (): Passwords => {
  const turns = new Turns(TURNS)
  const hash = (password: string, party: string): Promise<string> =>
    turns.run(party, () => Bun.password.hash(password.normalize('NFC'), COST))
  let nobodys: Promise<string> | undefined
  return {
    hash,
    async verify(password, { hash: known, party }) {
      nobodys ??= Bun.password.hash('nobody has this password', COST)
      const against = known ?? (await nobodys)
      const same = await turns.run(party, () => Bun.password.verify(password.normalize('NFC'), against))
      return same && known !== undefined
    },
  }
}
