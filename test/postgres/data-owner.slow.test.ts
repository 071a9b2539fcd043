/** Homes that were copied without their owners or modes. */
import { beforeAll, expect, test } from 'bun:test'
import { lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from '#kernel/log'
import { dataOf } from '#postgres/cluster'
import { fitData } from '#postgres/data-owner'
import { query, start } from '#test/support/database/embedded'
import { temporaryFolder } from '#test/support/folder'
import { use } from '#test/support/use'

const asRoot = process.getuid?.() === 0
const PATIENCE_MS = 60_000

const folder = use(temporaryFolder)
const at = (name: string): string => join(folder.path, name)
const log = createLog('silent')

beforeAll(async () => {
  await using embedded = await start(at('home'))
  await query(embedded.target, 'create table survivor (n int)')
}, PATIENCE_MS)

const startsWithData = async (home: string): Promise<void> => {
  await using embedded = await start(home)
  expect(await query(embedded.target, `select to_regclass('survivor')::text`)).toBe('survivor')
}

test.skipIf(!asRoot)(
  'one that belongs to root now starts, and is again that of the user of the original',
  async () => {
    expect(Bun.spawnSync(['cp', '-r', at('home'), at('copy')]).exitCode).toBe(0)
    expect(statSync(dataOf(at('copy'))).uid).toBe(0)
    await startsWithData(at('copy'))
    const { uid } = statSync(dataOf(at('home')))
    expect(uid).toBeGreaterThan(0)
    const all = readdirSync(dataOf(at('copy')), { recursive: true, encoding: 'utf8' })
    for (const name of ['.', ...all])
      expect([name, lstatSync(join(dataOf(at('copy')), name)).uid]).toEqual([name, uid])
  },
  PATIENCE_MS,
)

test(
  'one whose modes were changed starts, and others can read nothing',
  async () => {
    for (const mode of ['a+rX', 'go-rwx,u-w']) {
      expect(Bun.spawnSync(['chmod', '-R', mode, at('home')]).exitCode).toBe(0)
      await startsWithData(at('home'))
      expect(statSync(dataOf(at('home'))).mode & 0o777).toBe(0o700)
      expect(statSync(join(dataOf(at('home')), 'PG_VERSION')).mode & 0o777).toBe(0o600)
    }
  },
  PATIENCE_MS,
)

test('one is refused with the one command that mends it, if we are not root', () => {
  const self = { uid: 4_242, gid: 4_243 }
  const home = at("Ada's home")
  mkdirSync(dataOf(home), { recursive: true, mode: 0o700 })
  expect(() => fitData(home, { log, self })).toThrow(
    `As root, run: chown -R 4242:4243 '${home.replace("'", `'\\''`)}' && chmod -R u+rwX,go-rwx '`,
  )
})
