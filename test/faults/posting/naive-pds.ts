/** Accounts on a played PDS for the publisher that sends again. */
import { openPds, type PdsAccount } from '#test/support/network/pds'
import type { NaiveNetwork } from './naive.ts'
import { gatherRecords, misbehave, RECORDS, writingFaults } from './pds-network.ts'

/** What the worker needs of an account, which it keeps as the account's id. */
export interface NaiveAccount {
  did: string
  token: string
}

const signedIn = async (url: string, { did, appPassword }: PdsAccount): Promise<NaiveAccount> => {
  const response = await fetch(`${url}/xrpc/com.atproto.server.createSession`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ identifier: did, password: appPassword }),
  })
  return { did, token: ((await response.json()) as { accessJwt: string }).accessJwt }
}

export const naivePds = async (random: () => number): Promise<NaiveNetwork & AsyncDisposable> => {
  const pds = await openPds({ random })
  const dids: string[] = []
  return {
    // About a seventh of the records are made without an answer.
    mustDouble: 0.1,
    posts: RECORDS,
    env: () => ({ NAIVE_PDS: pds.url }),
    async accounts(_, handles) {
      const people = handles.map((handle) => pds.account(`${handle}.test`))
      dids.push(...people.map(({ did }) => did))
      const accounts = await Promise.all(people.map((person) => signedIn(pds.url, person)))
      misbehave(pds, writingFaults('com.atproto.repo.createRecord'))
      return accounts.map((account) => JSON.stringify(account))
    },
    gather: (owner) => gatherRecords(owner, pds, dids),
    [Symbol.asyncDispose]: () => pds[Symbol.asyncDispose](),
  }
}
