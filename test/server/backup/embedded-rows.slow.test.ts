/** Logical backups of an embedded database, by the commands of an operator. */
import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '#config/config'
import { createLog } from '#kernel/log'
import { findEmbedded } from '#postgres/start'
import { takeLogical } from '#server/backup/logical'
import type { BackupOrder } from '#server/backup/order'
import { secretKeys } from '#server/secret-key'
import { checkCanary } from '#store/engine/canary'
import { withLogins } from '#store/engine/logins'
import { migrate } from '#store/engine/migrate'
import { everythingIn, fillTables } from '#test/support/backup/logical'
import { start } from '#test/support/database/embedded'
import { temporaryFolder } from '#test/support/folder'
import { ownEnv } from '#test/support/processes/own-env'
import { use } from '#test/support/use'

const folder = use(temporaryFolder)
const log = createLog('silent')
const home = (): string => join(folder.path, 'home')
const place = () => ({ config: readConfig({ TENDRIL_HOME: home() }), log })

/** An embedded database with rows in each table; no server changes them. */
const database = use(async () => {
  const running = await start(home())
  const target = (await findEmbedded(home()))!
  await migrate(target, log)
  const { newest } = await checkCanary(target, await secretKeys(place().config))
  await fillTables(await withLogins(target, newest, log), target)
  return { target, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() }
})

const operated = async (...args: string[]): Promise<Record<string, unknown>> => {
  const child = Bun.spawn([process.execPath, 'src/main.ts', 'admin', ...args], {
    env: { ...ownEnv(), TENDRIL_HOME: home() },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0) throw new Error(err)
  return JSON.parse(out)
}

test('a logical backup of an embedded database becomes a home with the same rows', async () => {
  const [to, made] = [join(folder.path, 'rows.tar.zst'), join(folder.path, 'made')]
  const original = await everythingIn(database.target)
  expect(await operated('backup', to, '--logical')).toMatchObject({ kind: 'logical' })
  await operated('restore', to, '--home', made)
  await using _ = await start(made)
  const restored = (await findEmbedded(made))!
  expect(await everythingIn(restored)).toEqual(original)
  await checkCanary(restored, await secretKeys(readConfig({ TENDRIL_HOME: made })))
}, 120_000)

test('it looks at the disk of the database, before it begins and while it runs', async () => {
  const to = join(folder.path, 'watched')
  const held: number[] = []
  const take = (order: Partial<BackupOrder>) =>
    takeLogical(place(), { to, passphrase: undefined, mbPerSecond: 1_000, ...order })
  await expect(take({ limits: { leastFree: 0.999 } })).rejects.toThrow('% of the database')
  expect(readdirSync(folder.path)).not.toContain('watched')
  await take({ onHeld: (bytes) => held.push(bytes) })
  expect(new Set(held)).toEqual(new Set([0]))
})
