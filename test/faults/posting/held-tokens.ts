/** Which refresh token each account held when, against those that its server was asked with. */
import type postgres from 'postgres'
import { createSealer } from '#kernel/sealer'
import { soleKey } from '#kernel/secret-keys'
import { claimsIn, parseBlueskyCredentials } from '#port/network/bluesky/credentials'
import { credentialsRow } from '#store/growth/connections'
import { TEST_SECRET } from '#test/support/database/db'
import type { FakePds } from '#test/support/network/pds'

/** Keeps what accounts are used with, each time that it changes, in the table `held`. */
export const recordHeld = async (owner: postgres.Sql): Promise<void> => {
  await owner`create table held (seq bigserial primary key, connection_id uuid not null,
    did text not null, credentials text, at timestamptz not null default clock_timestamp())`
  await owner.unsafe(`create function keep_held() returns trigger language plpgsql security definer as $$ begin
    insert into public.held (connection_id, did, credentials)
      values (new.id, new.external_id, new.credentials);
    return null; end $$`)
  await owner`create trigger keep_held after insert or update of credentials on connection
    for each row when (new.network = 'bluesky') execute function keep_held()`
}

interface Held {
  did: string
  /** The refresh token, or its id if it has one; undefined: none is kept. */
  token: string | undefined
  at: number
}

export const heldBy = async (owner: postgres.Sql): Promise<Held[]> => {
  const sealer = createSealer(soleKey(TEST_SECRET))
  const rows = await owner<
    { connection_id: string; did: string; credentials: string | null; at: number }[]
  >`select connection_id, did, credentials, (extract(epoch from at) * 1000)::float as at
    from held order by seq`
  const tokenIn = (id: string, sealed: string): string => {
    const text = sealer.open(Buffer.from(sealed, 'base64'), credentialsRow(id))
    const { refresh } = parseBlueskyCredentials(text)
    // Tokens of OAuth say nothing.
    return String(claimsIn(refresh).jti ?? refresh)
  }
  return rows.map(({ connection_id, did, credentials, at }) => ({
    did,
    at,
    token: credentials === null ? undefined : tokenIn(connection_id, credentials),
  }))
}

export interface TokensSeen {
  /** How often another token was stored. */
  stored: number
  /** Renewals with a token that was sent before. */
  repeated: number
  /** Renewals with a token whose successor was stored by then. */
  usedAgain: number
  /** Accounts that hold neither the newest token nor the one before it. */
  outdated: number
}

/** The PDS's clock and the database's are one. */
export const tokensSeen = async (
  owner: postgres.Sql,
  { sessions }: Pick<FakePds, 'sessions'>,
): Promise<TokensSeen> => {
  const held = Map.groupBy(await heldBy(owner), ({ did }) => did)
  const usedAgain = sessions.filter(({ did, sent, at }) => {
    const current = held.get(did)!.findLast((one) => one.at <= at)
    return sent !== null && sent !== current?.token
  })
  const outdated = [...held].filter(([did, all]) => {
    const own = sessions.filter((one) => one.did === did)
    const newest = own.findLast(({ given }) => given !== undefined)!
    const { token } = all.at(-1)!
    return token !== newest.given && token !== newest.sent
  })
  const sent = sessions.flatMap((one) => one.sent ?? [])
  return {
    stored: [...held.values()].reduce((sum, all) => sum + all.length - 1, 0),
    repeated: sent.length - new Set(sent).size,
    usedAgain: usedAgain.length,
    outdated: outdated.length,
  }
}
