/** The rotation of the secret key, for an owner of the database who is no superuser. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readConfig } from '#config/config'
import { newId } from '#kernel/ids'
import { sealedUnder } from '#kernel/sealer'
import { keysForBackup } from '#server/secret-key'
import { insertTenant } from '#store/app/tenants'
import { BACKUP_LOCK } from '#store/backup/lock'
import { requireFittingSecret } from '#store/engine/canary'
import { openDb } from '#store/engine/db'
import { register, removeNodes } from '#store/engine/nodes'
import { sealedValues } from '#store/secret/sealed-values'
import {
  newSecretKey,
  type RotatingDeployment,
  rotatingDeployment,
} from '#test/support/secret/deployment'
import { fillOwn, fillSealed, isOwnReadable, unreadable } from '#test/support/secret/sealed-rows'

const [first, second] = [newSecretKey(), newSecretKey()]
const both = [first, second]

let place: RotatingDeployment
let tenants: string[]
beforeAll(async () => {
  place = await rotatingDeployment(first)
  await using db = openDb({ ...(await place.enter(first)).options, max: 1 })
  tenants = [newId(), newId()]
  for (const id of tenants) {
    await insertTenant(db, { id, name: 'test', plan: 'team' })
    await fillSealed({ root: place.root, tenantId: id }, first)
  }
  await fillOwn(place.root, first)
})
afterAll(() => place[Symbol.asyncDispose]())

const allUnreadable = async (key: typeof first): Promise<string[]> =>
  (
    await Promise.all(tenants.map((tenantId) => unreadable({ root: place.root, tenantId }, key)))
  ).flat()

/** A server that lives as long as this is not disposed of. */
const living = async (...known: (typeof first)[]) => {
  const { options, keys } = await place.enter(...known)
  const db = openDb({ ...options, max: 1 })
  const id = newId()
  const url = `http://${id}`
  await register(db, {
    incarnation: id,
    lockKey: 1n,
    url,
    keys: {
      known: known.map(({ fingerprint }) => fingerprint),
      newest: keys.newest.fingerprint,
      login: keys.login,
    },
  })
  return {
    id,
    async [Symbol.asyncDispose]() {
      await removeNodes(db, [id])
      await db[Symbol.asyncDispose]()
    },
  }
}

/** Where in the database something stands that was sealed under this key. */
const tracesOf = async (key: typeof first): Promise<string[]> => {
  const columns = await place.root<{ table: string; column: string; type: string }[]>`
    select c.relname as "table", a.attname as "column", format_type(a.atttypid, null) as type
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0
      and not a.attisdropped and format_type(a.atttypid, null) in ('bytea', 'text', 'jsonb')`
  const prefix = sealedUnder(key.fingerprint)
  const found: string[] = []
  for (const { table, column, type } of columns) {
    const sql = place.root
    const hit =
      type === 'bytea'
        ? sql`position(${prefix} in ${sql(column)}) > 0`
        : sql`position(${prefix.toString('base64')} in ${sql(column)}::text) > 0`
    const rows = await sql`select 1 from ${sql(table)} where ${hit} limit 1`
    if (rows.length > 0) found.push(`${table}.${column}`)
  }
  return found
}

/** Fails at that place. */
const stopAt = (at: string) => (name: string) => {
  if (name === at) throw new Error(`stopped at ${at}`)
}

/** Runs a command that is stopped at each of these places in turn, and then to its end. */
const stoppedAt = async (
  places: string[],
  run: (stop: (name: string) => void) => Promise<object>,
): Promise<object> => {
  for (const at of places) {
    const stopped = await run(stopAt(at)).catch((cause) => cause.message)
    expect(stopped).toBe(`stopped at ${at}`)
  }
  return await run(() => {})
}

const logins = async (): Promise<string[]> =>
  (
    await place.root<{ rolname: string }[]>`select rolname from pg_roles
      where rolname ~ '^tendril_(app|system|sandbox)_' order by 1`
  ).map(({ rolname }) => rolname)

/** The keys that a backup would have. */
const backedUp = async () => {
  const [key, next] = both.map(({ bytes }) => bytes.toString('base64'))
  const env = { TENDRIL_SECRET_KEY: key, TENDRIL_SECRET_KEY_NEXT: next }
  const { newest, old } = await keysForBackup(readConfig(env), (known) =>
    requireFittingSecret(place.options, known),
  )
  return [newest, old].map((one) => one?.fingerprint)
}

/** Acts at that place. */
const meanwhile = (at: string, act: () => Promise<unknown>) => async (name: string) => {
  if (name === at) await act()
}

/** The steps of one rotation. Each begins where the one before it has ended. */
const steps: Record<string, () => Promise<void>> = {
  async 'it is refused while a server does not know the next key, and the server is named'() {
    await using _ = await living(first, second)
    await using ignorant = await living(first)
    const refused = await place.rotate(both).catch((cause) => cause)
    expect(refused.message).toContain(
      `server ${ignorant.id} at http://${ignorant.id} does not know the key ${second.fingerprint}`,
    )
    expect(await place.root`select 1 from secret_key`).toHaveLength(0)
    expect(await allUnreadable(first)).toEqual([])
  },
  async 'it is refused without a next key, and nothing is there to go back from'() {
    await expect(place.rotate([first])).rejects.toThrow('there is no next key')
    await expect(place.rotate(both, { back: true })).rejects.toThrow('no rotation is under way')
    await expect(place.dropOld(both)).rejects.toThrow('no rotation is under way')
  },
  async 'it is refused while a backup is made'() {
    const lock = await place.root.reserve()
    await lock`select pg_advisory_lock(${BACKUP_LOCK})`
    await expect(place.rotate(both)).rejects.toThrow('a backup is being made')
    await lock`select pg_advisory_unlock(${BACKUP_LOCK})`
    lock.release()
  },
  async 'it can be stopped anywhere and run again, and every value opens under the new key'() {
    const places = ['begun', 'batch', 'swept', 'settled', 'sealed'].map((at) => `rotation.${at}`)
    const rotated = await stoppedAt(places.slice(0, 2), (stop) => place.rotate(both, { stop }))
    expect(rotated).toMatchObject({ secret_key: second.fingerprint, unreadable: 0 })
    await stoppedAt(places.slice(2), (stop) => place.rotate(both, { stop }))
    expect(await allUnreadable(second)).toEqual([])
    expect(await tracesOf(first)).toEqual([])
    expect((await tracesOf(second)).length).toBe(sealedValues.length + 1)
    expect(await isOwnReadable(place.root, second)).toBe(true)
  },
  async 'it goes back, and both keys are needed until it is through'() {
    expect(await backedUp()).toEqual([second.fingerprint, first.fingerprint])
    const stop = stopAt('rotation.begun')
    await expect(place.rotate(both, { back: true, stop })).rejects.toThrow('stopped')
    await expect(place.enter(first)).rejects.toThrow(
      'set TENDRIL_SECRET_KEY and TENDRIL_SECRET_KEY_NEXT to both keys',
    )
    await expect(place.dropOld(both)).rejects.toThrow('values are sealed under it')
    expect(await backedUp()).toEqual([first.fingerprint, second.fingerprint])
    await place.rotate(both)
    expect(await allUnreadable(first)).toEqual([])
    await place.rotate(both, { back: true })
    expect(await allUnreadable(second)).toEqual([])
  },
  async 'one that is still at it when somebody goes back ends, and changes nothing more'() {
    const back = (until: (name: string) => void) => () =>
      place.rotate(both, { back: true, stop: until }).catch(() => {})
    for (const at of ['begun', 'batch', 'swept', 'settled']) {
      // One is on the way to `first` when the other one goes back to `second`.
      const stop = meanwhile(
        `rotation.${at}`,
        back(() => {}),
      )
      await expect(place.rotate(both, { back: true, stop })).rejects.toThrow('has turned')
      expect([at, await allUnreadable(second)]).toEqual([at, []])
    }
    // There and back again: the key is the same, and the turn is another.
    const there = meanwhile('rotation.settled', async () => {
      await place.rotate(both, { back: true })
      await back(stopAt('rotation.settled'))()
      const [row] = await place.root`select settled_at, sealed_at from secret_key
        where state = 'new' and fingerprint = ${second.fingerprint}`
      expect([row!.settled_at, row!.sealed_at]).toEqual([expect.any(Date), null])
    })
    await expect(place.rotate(both, { stop: there })).rejects.toThrow('has turned')
    await place.rotate(both)
    expect(await allUnreadable(second)).toEqual([])
  },
  async 'what may be of the old key and does not open keeps it, and is named'() {
    const [tenantId] = tenants
    const [kept] = await place.root`select env from mcp_server where tenant_id = ${tenantId!}`
    const write = (env: Buffer) =>
      place.root`update mcp_server set env = ${env} where tenant_id = ${tenantId!}`
    for (const head of [sealedUnder(first.fingerprint), Buffer.of(1)]) {
      await write(Buffer.concat([head, Buffer.alloc(40)]))
      await expect(place.rotate(both)).rejects.toThrow(`1 in mcp_server.env of ${tenantId}`)
      // As if it had been noted sealed before.
      await expect(place.dropOld(both, { endsSessions: true })).rejects.toThrow(
        `1 in mcp_server.env of ${tenantId}`,
      )
      expect(await place.root`select 1 from session where revoked_at is null`).toHaveLength(2)
    }
    await write(kept!.env)
    await place.rotate(both)
  },
  async 'it keeps no server waiting for long'() {
    const other = await place.root.reserve()
    await other`begin`
    await other`lock table node in row exclusive mode`
    await expect(place.rotate(both)).rejects.toThrow('too busy for this now')
    await other`commit`
    other.release()
  },
  async 'a server with one of the keys alone is refused'() {
    await expect(place.enter(first)).rejects.toThrow(`${second.fingerprint} is missing here`)
    await expect(place.enter(second)).rejects.toThrow(
      `${first.fingerprint} is missing here: set TENDRIL_SECRET_KEY and TENDRIL_SECRET_KEY_NEXT to both keys; if that key is lost, \`tendril admin secret drop-old --end-sessions\``,
    )
    await expect(place.enter(newSecretKey())).rejects.toThrow('is not the secret key')
  },
  async 'it leaves what no key opens, and another rotation waits for the end of this one'() {
    const [tenantId] = tenants
    const foreign = Buffer.concat([sealedUnder('0123456789abcdef'), Buffer.alloc(40)])
    await place.root`update mcp_server set env = ${foreign} where tenant_id = ${tenantId!}`
    expect(await place.rotate(both)).toMatchObject({ unreadable: 1 })
    const [row] = await place.root`select env from mcp_server where tenant_id = ${tenantId!}`
    expect(row!.env).toEqual(foreign)
    await expect(place.rotate([...both, newSecretKey()])).rejects.toThrow('is not over')
  },
  async 'the old key stays while a server is connected by its logins'() {
    await using old = await living(...both)
    await place.root`update node set login_key = ${first.fingerprint} where incarnation = ${old.id}`
    await expect(place.dropOld(both)).rejects.toThrow(
      `server ${old.id} at http://${old.id} is still connected with logins derived from it`,
    )
  },
  async 'it is dropped with its logins, and never comes back'() {
    expect((await logins()).length).toBeGreaterThanOrEqual(6)
    await expect(place.dropOld(both)).rejects.toThrow(/2 sessions have tokens .* --end-sessions/)
    await stoppedAt(['rotation.dropped', 'rotation.logins'], (stop) =>
      place.dropOld([second], { endsSessions: true, stop }),
    )
    expect(await place.root`select 1 from session where revoked_at is null`).toHaveLength(0)
    expect(await logins()).toHaveLength(3)
    for (const name of await logins()) expect(name).toEndWith(second.fingerprint.slice(0, 8))
    await expect(place.enter(first)).rejects.toThrow(
      `set TENDRIL_SECRET_KEY to the key with the fingerprint ${second.fingerprint}`,
    )
    const { keys } = await place.enter(...both)
    expect(keys.accepted.map(({ fingerprint }) => fingerprint)).toEqual([second.fingerprint])
    await expect(place.rotate(both)).rejects.toThrow('never comes back')
  },
}

test('a rotation, from a server that does not know the next key to the end of the old one', async () => {
  for (const [name, step] of Object.entries(steps))
    await step().catch((cause) => {
      throw new Error(name, { cause })
    })
})
