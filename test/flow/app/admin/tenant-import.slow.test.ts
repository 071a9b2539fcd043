/** Imports that are large, and imports that die. */
import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { firstIdAt } from '#kernel/ids'
import { eraseSome } from '#store/app/erasure'
import { type ArchiveLine, exportedItem, writeArchive } from '#test/support/archives'
import { freshDb, TEST_SECRET } from '#test/support/database/db'
import { rowsOfTenant } from '#test/support/database/tenant-rows'
import { temporaryFolder } from '#test/support/folder'
import { mainProgram } from '#test/support/processes/bundle'
import { environmentOf } from '#test/support/processes/server'
import { use, useApp } from '#test/support/use'

const db = use(freshDb)
const folder = use(temporaryFolder)
const app = useApp(() => ({ database: db.options }))
const to = (name: string): string => join(folder.path, name)

/**
 * The most memory that the program itself had. What the system tells of a child includes the memory
 * of the process that has started it.
 */
const TELLS_PEAK = `import { readFileSync } from 'node:fs'
process.on('exit', () => {
  const [, kib] = /VmHWM:\\s+(\\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))
  console.error('peak ' + kib)
})`

const run = async (args: string[], env: Record<string, string> = {}) => {
  const options = { key: app.key, database: db.options, secret: TEST_SECRET.toString('base64') }
  writeFileSync(to('peak.ts'), TELLS_PEAK)
  const program = ['--preload', to('peak.ts'), await mainProgram()]
  const command = [process.execPath, ...program, 'admin', 'tenant', ...args]
  const child = Bun.spawn(command, {
    env: { ...environmentOf(options, 0), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  await child.exited
  const [, peak] = /^peak (\d+)$/m.exec(err) ?? []
  return { code: child.exitCode, signal: child.signalCode, out, err, peakKib: Number(peak) }
}

function* posts(count: number): Generator<ArchiveLine> {
  for (let at = 0; at < count; at++) {
    const time = Date.now() - 1e9 + at * 1_000
    const record = exportedItem({
      id: firstIdAt(time),
      status: 'posted',
      body: `Post number ${at}: eleven of fourteen delays started at the dock.`,
      external_id: `p${at}`,
      posted_at: new Date(time),
    })
    yield { kind: 'item', record }
  }
}

const COUNT = 100_000
const MOST_KIB = 512 * 1_024

test('100,000 items are taken over in bounded memory', async () => {
  await writeArchive(to('large.tar.zst'), { records: posts(COUNT) })
  const { code, out, err, peakKib } = await run([
    ...['import', to('large.tar.zst'), '--report', to('large.report')],
  ])
  expect([code, err]).toEqual([0, `peak ${peakKib}\n`])
  const made = JSON.parse(out)
  expect(made.made).toEqual({ item: COUNT })
  expect(peakKib).toBeLessThan(MOST_KIB)
  const rows = await rowsOfTenant(app.owner, made.workspace_id)
  expect(rows['item.tenant_id']).toBe(COUNT)
  expect(readFileSync(to('large.report'), 'utf8').trimEnd().split('\n')).toHaveLength(COUNT)
}, 600_000)

/** As many different words as are stored of one, and none in two of them. */
function* articles(count: number): Generator<ArchiveLine> {
  for (let at = 0; at < count; at++) {
    const words = Array.from({ length: WORDS }, (_, word) => (at * WORDS + word + 1e5).toString(36))
    const record = exportedItem({ kind: 'article', body: words.join(' '), tags: [] })
    yield { kind: 'item', record }
  }
}

const WORDS = 4_000
const ARTICLES = 60

test('long articles are taken over, each of whose words is a row', async () => {
  await writeArchive(to('articles.tar.zst'), { records: articles(ARTICLES) })
  const { code, out } = await run([
    ...['import', to('articles.tar.zst'), '--report', to('articles.report')],
  ])
  expect(code).toBe(0)
  const rows = await rowsOfTenant(app.owner, JSON.parse(out).workspace_id)
  expect(rows['item_word.tenant_id']).toBe(ARTICLES * WORDS)
}, 300_000)

test('an import that is killed leaves nothing that lives, and can be run again', async () => {
  await writeArchive(to('small'), { records: posts(900) })
  const tenants = () => app.owner<{ id: string }[]>`select id from tenant order by id`
  const before = await tenants()
  const died = await run(['import', to('small')], { TENDRIL_FAILPOINTS: 'import.ends=kill' })
  expect(died.signal).toBe('SIGKILL')
  const [left] = (await tenants()).filter(({ id }) => !before.some((one) => one.id === id))
  const id = left!.id
  expect((await rowsOfTenant(app.owner, id))['item.tenant_id']).toBe(900)
  expect(await app.owner`select 1 from actor where tenant_id = ${id}`).toHaveLength(0)
  // The lease of the process that has died holds for a while.
  const due = () => app.owner`select 1 from tenant where id = ${id}
    and deletes_at <= now() and erasure_rests_until <= now()`
  expect(await due()).toHaveLength(0)
  await app.owner`update tenant set erasure_rests_until = now() where id = ${id}`
  expect(await due()).toHaveLength(1)
  while (await eraseSome(app.workplace.db, id, 1_000));
  for (const [table, count] of Object.entries(await rowsOfTenant(app.owner, id)))
    expect([table, count]).toEqual([table, 0])
  expect((await run(['import', to('small'), '--report', to('small.report')])).code).toBe(0)
}, 120_000)
