/** Backups of a server that is being written to, and what becomes of them. */
import { expect, test } from 'bun:test'
import { createWriteStream, existsSync, readdirSync, statSync } from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '#config/config'
import { newApiKey } from '#kernel/api-key'
import { createLog } from '#kernel/log'
import type { Bucket } from '#port/files/s3/bucket'
import { findEmbedded } from '#postgres/start'
import { checkBackup } from '#server/backup/check'
import { takeLogical } from '#server/backup/logical'
import type { BackupOrder } from '#server/backup/order'
import { takePhysical } from '#server/backup/physical'
import { restoreBackup } from '#server/backup/restore'
import { checkStoredFiles, type StoredFlaw } from '#server/backup/stored-list'
import { eventually } from '#test/support/app'
import { query, start } from '#test/support/database/embedded'
import { temporaryFolder } from '#test/support/folder'
import { environmentOf, type ServerProcess, startServer } from '#test/support/processes/server'
import { use } from '#test/support/use'

const PATIENCE_MS = 120_000
const folder = use(temporaryFolder)
const key = newApiKey()
const home = (): string => join(folder.path, 'home')
const server = use(() => startServer({ key, home: home() }))

const log = createLog('silent')
const place = () => ({ config: readConfig({ TENDRIL_HOME: home() }), log })
const take = (order: Partial<BackupOrder> & Pick<BackupOrder, 'to'>) =>
  takePhysical(place(), { passphrase: undefined, ...order })

const ask = async (text: string): Promise<unknown> => query((await findEmbedded(home()))!, text)
const slots = () => ask(`select count(*)::int from pg_replication_slots`)

/** The name of a backup that is being made. */
const partOf = (name: string): string | undefined =>
  readdirSync(folder.path).find((one) => one.startsWith(name) && one.includes('.part-'))

/** Writes items until it is disposed of, and keeps when each was acknowledged. */
const writing = ({ send }: Pick<ServerProcess, 'send'>) => {
  const acknowledged: { id: string; at: number }[] = []
  let isOver = false
  const writer = async (): Promise<void> => {
    while (!isOver) {
      const body = { body: `Every delay starts at the dock. ${acknowledged.length}` }
      const { status, body: answer } = await send('POST', 'items', { body })
      if (status < 300) acknowledged.push({ id: answer.item.id, at: Date.now() })
      // Slowly enough for the hourly cap on drafts.
      await Bun.sleep(25)
    }
  }
  const writers = Promise.all([writer(), writer(), writer()])
  return {
    acknowledged,
    async [Symbol.asyncDispose]() {
      isOver = true
      await writers
    },
  }
}

/** The ids of all items in a server on `path`. */
const itemsIn = async (path: string): Promise<Set<string>> => {
  await using _ = await startServer({ key, home: path })
  const ids = await query(
    (await findEmbedded(path))!,
    `select coalesce(string_agg(id::text, ','), '') from item`,
  )
  return new Set(ids!.split(','))
}

test(
  'what was acknowledged before the time of a backup is in it, also what was written meanwhile',
  async () => {
    const to = join(folder.path, 'under-load.tar.zst')
    let began = 0
    const { at, acknowledged } = await (async () => {
      await using writes = writing(server)
      await eventually(
        () => writes.acknowledged.length,
        (count) => count > 20,
      )
      const made = take({ to, passphrase: 'words', mbPerSecond: 16 })
      await eventually(
        () => partOf('under-load') && statSync(join(folder.path, partOf('under-load')!)).size,
        (size) => Number(size) > 1_000,
      )
      began = Date.now()
      // A start would begin at this checkpoint if the backup did not say where it must.
      await ask('checkpoint')
      const taken = await made
      await eventually(
        () => writes.acknowledged.at(-1)!.at,
        (last) => last > Date.parse(taken.at) + 200,
      )
      return { at: Date.parse(taken.at), acknowledged: writes.acknowledged }
    })()
    const meanwhile = acknowledged.filter((one) => one.at > began && one.at < at)
    expect(meanwhile.length).toBeGreaterThan(20)
    expect(acknowledged.some((one) => one.at > at)).toBe(true)
    const restored = join(folder.path, 'restored')
    await restoreBackup(
      { config: readConfig({}), log },
      { from: to, passphrase: 'words', home: restored },
    )
    const found = await itemsIn(restored)
    const lost = acknowledged.filter((one) => one.at < at && !found.has(one.id))
    expect(lost).toEqual([])
    expect(await slots()).toBe(0)
  },
  PATIENCE_MS,
)

/** Copies an item so often, with ids of their own. */
const copyItem = (id: string, times: number): string => `do $$ declare fields text; begin
  select string_agg(quote_ident(column_name), ',') into fields from information_schema.columns
    where table_name = 'item' and is_generated = 'NEVER' and column_name <> 'id';
  execute format('insert into item (id, %1$s) select gen_random_uuid(), %1$s
    from item, generate_series(1, ${times}) where id = %2$L', fields, '${id}');
end $$`
const ITEMS = `select count(*) || ' ' || md5(string_agg(i::text, ',' order by id)) from item i
  where body like 'One of many%'`

test(
  'a home with 100,000 items is backed up and restored whole, by its files and by its rows',
  async () => {
    const { body } = await server.send('POST', 'items', { body: { body: 'One of many.' } })
    await ask(copyItem(body.item.id, 99_999))
    const items = await ask(ITEMS)
    expect(items).toMatch(/^100000 /)
    for (const by of [takePhysical, takeLogical]) {
      const [to, made] = [join(folder.path, by.name), join(folder.path, `of-${by.name}`)]
      await by(place(), { to, passphrase: undefined, mbPerSecond: 200 })
      await restoreBackup(
        { config: readConfig({}), log },
        { from: to, passphrase: undefined, home: made },
      )
      await using _ = await start(made)
      expect(await query((await findEmbedded(made))!, ITEMS)).toBe(items as string)
    }
  },
  PATIENCE_MS,
)

test(
  'a backup that is killed leaves no slot and nothing that verifies, and the next one is made',
  async () => {
    const to = join(folder.path, 'killed')
    const child = Bun.spawn(
      [process.execPath, 'src/main.ts', 'admin', 'backup', to, '--mb-per-second', '5'],
      { env: environmentOf({ key, home: home() }, 0), stdio: ['ignore', 'pipe', 'pipe'] },
    )
    await eventually(slots, (count) => count === 1)
    await eventually(() => partOf('killed'), Boolean)
    // The server beside goes first.
    expect(getPriority(child.pid)).toBe(19)
    await expect(take({ to: join(folder.path, 'second') })).rejects.toThrow('another backup')
    child.kill('SIGKILL')
    await child.exited
    await eventually(slots, (count) => count === 0)
    expect(existsSync(to)).toBe(false)
    const left = readdirSync(folder.path).filter((name) => name.startsWith('killed'))
    expect(left.length).toBe(1)
    await expect(checkBackup(join(folder.path, left[0]!), undefined)).rejects.toThrow(
      'not finished',
    )
    const stored = await ask(`insert into file
      (id, tenant_id, store, byte_size, sha256, digests, kept_at)
      select gen_random_uuid(), id, 's3', 0, repeat('0', 64), '', now() from tenant
      returning tenant_id || '/' || id`)
    await take({ to, mbPerSecond: 200 })
    const flaws: StoredFlaw[] = []
    const bucket = { sizeOf: async () => undefined } as unknown as Bucket
    const from = { from: to, passphrase: undefined }
    const { head } = await checkStoredFiles(from, bucket, (flaw) => void flaws.push(flaw))
    expect(head.kind).toBe('physical')
    expect(flaws).toEqual([{ key: String(stored), bytes: 0, flaw: 'missing' }])
  },
  PATIENCE_MS,
)

test(
  'a backup gives up, and says why, when it holds back too much or the disk fills up',
  async () => {
    await using _ = writing(server)
    const [to, mbPerSecond] = [join(folder.path, 'given-up.tar.zst'), 5]
    const limits = { mostHeldBytes: 100_000, everyMs: 50 }
    const held: number[] = []
    await expect(
      take({ to, mbPerSecond, limits, onHeld: (bytes) => held.push(bytes) }),
    ).rejects.toThrow(/held back \d+ MiB of the write-ahead log, and may hold 1 MiB/)
    expect(held.at(-1)).toBeGreaterThan(100_000)
    await expect(take({ to, limits: { leastFree: 0.999 } })).rejects.toThrow('% of the database')
    await expect(take({ to: createWriteStream('/dev/full') })).rejects.toThrow('is full')
    expect(readdirSync(folder.path).filter((name) => name.startsWith('given-up'))).toEqual([])
    expect(await slots()).toBe(0)
  },
  PATIENCE_MS,
)

test(
  'a server that stops does not wait until the database can begin a backup, and leaves no slot',
  async () => {
    const pid = Number(
      await ask(`select pid from pg_stat_activity where backend_type = 'checkpointer'`),
    )
    const controller = new AbortController()
    process.kill(pid, 'SIGSTOP')
    try {
      const made = take({ to: join(folder.path, 'stopped'), signal: controller.signal })
      made.catch(() => {})
      const waits = () =>
        ask(`select count(*)::int from pg_stat_activity
          where wait_event like 'Checkpoint%' and query like '%pg_backup_start%'`)
      await eventually(waits, (count) => count === 1)
      controller.abort()
      await expect(made).rejects.toThrow('because the server stops')
      await eventually(slots, (count) => count === 0)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    expect(readdirSync(folder.path).filter((name) => name.startsWith('stopped'))).toEqual([])
  },
  PATIENCE_MS,
)

test('a place in its own home is refused, also behind a link', async () => {
  for (const place of ['backup', 'postgres/data/b.tar.zst'])
    await expect(take({ to: join(home(), place) })).rejects.toThrow('lies in TENDRIL_HOME')
  const link = join(folder.path, 'link')
  Bun.spawnSync(['ln', '-s', join(home(), 'postgres'), link])
  await expect(take({ to: join(link, 'b.tar.zst') })).rejects.toThrow('lies in TENDRIL_HOME')
})

test(
  'a server that dies meanwhile ends the backup, and nothing is left that verifies',
  async () => {
    const own = join(folder.path, 'own')
    await using dying = await startServer({ key: newApiKey(), home: own })
    const [to, config] = [join(folder.path, 'dead'), readConfig({ TENDRIL_HOME: own })]
    const backup = takePhysical(
      { config, log },
      { to, passphrase: undefined, mbPerSecond: 5, limits: { everyMs: 50 } },
    )
    backup.catch(() => {})
    await eventually(() => partOf('dead'), Boolean)
    await dying.kill()
    await expect(backup).rejects.toThrow()
    expect(readdirSync(folder.path).filter((name) => name.startsWith('dead'))).toEqual([])
    // Without a server, the command runs the database itself.
    await takePhysical({ config, log }, { to, passphrase: undefined, mbPerSecond: 200 })
    expect((await checkBackup(to, undefined)).manifest.files.length).toBeGreaterThan(100)
  },
  PATIENCE_MS,
)
