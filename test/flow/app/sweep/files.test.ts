/** What is removed from S3, when, and what never is. */
import { afterEach, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { eraseSome } from '#store/app/erasure'
import { takeRemovals } from '#store/app/files'
import { sweepSome } from '#store/app/sweep'
import { makeArtifact } from '#test/support/agent/artifacts'
import { eventually } from '#test/support/eventually'
import { type FileDesk, fileDesk } from '#test/support/files'
import { openS3 } from '#test/support/s3/server'
import { use, useApp } from '#test/support/use'

const MIB = 1_048_576
const NEVER_MS = 3_600_000
const RETENTION = { keepDays: 400, agentKeepDays: 90, rows: 2 }

const s3 = use(openS3)
const options = {
  sweep: { everyMs: NEVER_MS },
  erasure: { everyMs: NEVER_MS, rows: 1_000 },
  removalMs: 20,
  bucketTimes: { restMs: 1 },
}
/** Two servers on one database. */
const app = useApp(() => ({ env: s3.env, overrides: options }))
const second = useApp(() => ({ env: s3.env, overrides: options, database: app.options }))

afterEach(() => {
  s3.fault = () => undefined
})

const newDesk = async (): Promise<FileDesk> => fileDesk(app, (await app.newWorkspace()).tenantId)
const put = ({ files, tenantId }: FileDesk, size = 100) => files.put(tenantId, randomBytes(size))
const keyOf = ({ tenantId }: FileDesk, { id }: { id: string }) => `${tenantId}/${id}`

const keysOf = async ({ tenantId }: FileDesk) =>
  (await s3.disk.keys()).filter((key) => key.startsWith(tenantId))
const uploadsOf = async ({ tenantId }: FileDesk) =>
  (await s3.disk.uploads()).filter(({ key }) => key.startsWith(tenantId))

/** Lets what was noted have been noted so many hours before now. */
const age = ({ tenantId }: FileDesk, hours: number) =>
  app.owner`update file set noted_at = clock_timestamp() - ${hours} * interval '1 hour'
    where tenant_id = ${tenantId}`

const sweep = async ({ tenantId }: FileDesk): Promise<void> => {
  while (await sweepSome(app.workplace.db, tenantId, RETENTION));
}

/** Nothing is left to be removed. */
const removed = () =>
  eventually(
    async () => (await app.owner`select key from file_removal`).length,
    (left) => left === 0,
  )

/** An upload in parts of which the process died in the middle. */
const broken = async (desk: FileDesk): Promise<void> => {
  const died = new Error('died')
  s3.fault = ({ method, query }) =>
    method === 'DELETE' || query.get('partNumber') === '2'
      ? { status: 403, code: 'AccessDenied' }
      : undefined
  await put(desk, 9 * MIB).catch(() => died)
  s3.fault = () => undefined
}

describe('what was never kept', () => {
  test('stays for 24 hours and goes after them, objects and unfinished uploads; what is kept stays, also of other workspaces', async () => {
    const [mine, other] = [await newDesk(), await newDesk()]
    const kept = await mine.keep(await put(mine))
    const orphans = [await put(mine), await put(mine), await put(mine)]
    await broken(mine)
    const others = await put(other)
    await age(mine, 23.9)
    await sweep(mine)
    expect(await removed()).toBe(0)
    expect([(await keysOf(mine)).length, (await uploadsOf(mine)).length]).toEqual([4, 1])
    await age(mine, 24.1)
    await sweep(mine)
    await sweep(other)
    expect(await removed()).toBe(0)
    expect([await keysOf(mine), await uploadsOf(mine), await keysOf(other)]).toEqual([
      [keyOf(mine, kept)],
      [],
      [keyOf(other, others)],
    ])
    for (const orphan of orphans)
      await expect(mine.keep(orphan)).rejects.toMatchObject({ code: 'conflict' })
    expect(await app.owner`select 1 from file where tenant_id = ${mine.tenantId}`).toHaveLength(1)
  })

  test('counts as room until it goes', async () => {
    const mine = await newDesk()
    await put(mine, 50 * 1_024)
    const used = async () =>
      (
        await app.owner`select used from counter where tenant_id = ${mine.tenantId}
          and key = 'files'`
      )[0]!.used
    expect(await used()).toBe(50)
    await age(mine, 25)
    await sweep(mine)
    expect(await used()).toBe(0)
  })

  test('is kept or swept while both are tried at once, never both', async () => {
    const desks = await Promise.all(Array.from({ length: 12 }, newDesk))
    const files = await Promise.all(desks.map((desk) => put(desk)))
    await Promise.all(desks.map((desk) => age(desk, 25)))
    const kept = await Promise.all(
      desks.map(async (desk, index) => {
        const [outcome] = await Promise.allSettled([desk.keep(files[index]!), sweep(desk)])
        return outcome.status === 'fulfilled'
      }),
    )
    await removed()
    for (const [index, desk] of desks.entries()) {
      expect((await keysOf(desk)).length).toBe(kept[index] ? 1 : 0)
      expect(await app.owner`select 1 from file where tenant_id = ${desk.tenantId}`).toHaveLength(
        kept[index] ? 1 : 0,
      )
    }
  })
})

describe('removal', () => {
  const doomed = async (desk: FileDesk, many: number): Promise<void> => {
    for (let made = 0; made < many; made++) await put(desk)
    await age(desk, 25)
    await sweep(desk)
  }
  const waiting = () =>
    app.owner<
      { tries: number; ahead: boolean }[]
    >`select tries, due_at > clock_timestamp() as ahead from file_removal`

  test('of many objects is shared by two servers, without one that both try', async () => {
    const mine = await newDesk()
    // Nothing but the tries below is done until then.
    s3.fault = ({ method }) => (method === 'DELETE' ? 'away' : undefined)
    await doomed(mine, 20)
    await app.owner`update file_removal set due_at = clock_timestamp()`
    const taken = await Promise.all(
      Array.from({ length: 6 }, (_, n) => takeRemovals((n % 2 ? app : second).workplace.db, 5)),
    )
    const keys = taken.flat().map(({ key }) => key)
    expect(keys.length).toBeGreaterThan(0)
    expect(new Set(keys).size).toBe(keys.length)
    s3.fault = () => undefined
    await app.owner`update file_removal set due_at = clock_timestamp()`
    expect(await removed()).toBe(0)
    expect(await keysOf(mine)).toEqual([])
  })

  test('is tried again, later each time, until the storage has done it', async () => {
    const mine = await newDesk()
    s3.fault = ({ method }) => (method === 'DELETE' ? { status: 503, code: 'SlowDown' } : undefined)
    await doomed(mine, 3)
    const tried = await eventually(waiting, (rows) => rows.every(({ tries }) => tries === 1))
    expect(tried.map(({ ahead }) => ahead)).toEqual([true, true, true])
    expect(await keysOf(mine)).toHaveLength(3)
    s3.fault = () => undefined
    await app.owner`update file_removal set due_at = clock_timestamp()`
    expect(await removed()).toBe(0)
    expect(await keysOf(mine)).toEqual([])
  })

  test('of what is gone already is done', async () => {
    const mine = await newDesk()
    const { id } = await put(mine)
    await s3.disk.lose(`${mine.tenantId}/${id}`)
    await age(mine, 25)
    await sweep(mine)
    expect(await removed()).toBe(0)
  })

  test('does without a list of uploads where the storage has none', async () => {
    const mine = await newDesk()
    s3.fault = ({ query }) =>
      query.has('uploads') ? { status: 501, code: 'NotImplemented' } : undefined
    await doomed(mine, 1)
    expect(await removed()).toBe(0)
    expect(await keysOf(mine)).toEqual([])
  })
})

describe('an artifact', () => {
  test('that was deleted a week ago leaves the storage', async () => {
    const mine = await newDesk()
    const { id } = await makeArtifact({ app, tenantId: mine.tenantId })
    await app.owner`update artifact set deleted_at = now() - interval '6 days' where id = ${id}`
    await sweep(mine)
    await removed()
    expect(await keysOf(mine)).toHaveLength(1)
    await app.owner`update artifact set deleted_at = now() - interval '8 days' where id = ${id}`
    await sweep(mine)
    await removed()
    expect(await keysOf(mine)).toEqual([])
  })
})

test('an erased workspace leaves nothing in the storage, even if that is away while it is erased; others keep theirs', async () => {
  const [mine, other] = [await newDesk(), await newDesk()]
  await makeArtifact({ app, tenantId: mine.tenantId })
  await mine.keep(await put(mine, 9 * MIB))
  await put(mine)
  await broken(mine)
  const others = await other.keep(await put(other))
  await app.owner`update tenant set deletes_at = now() - interval '1 second'
    where id = ${mine.tenantId}`
  s3.fault = () => 'away'
  while (await eraseSome(app.workplace.db, mine.tenantId, 2));
  expect(await app.owner`select 1 from tenant where id = ${mine.tenantId}`).toHaveLength(0)
  expect(await app.owner`select 1 from file where tenant_id = ${mine.tenantId}`).toHaveLength(0)
  expect([(await keysOf(mine)).length, (await uploadsOf(mine)).length]).toEqual([3, 1])
  s3.fault = () => undefined
  await eventually(
    async () => {
      await app.owner`update file_removal set due_at = clock_timestamp()`
      return (await app.owner`select 1 from file_removal`).length
    },
    (left) => left === 0,
  )
  expect([await keysOf(mine), await uploadsOf(mine), await keysOf(other)]).toEqual([
    [],
    [],
    [keyOf(other, others)],
  ])
})
