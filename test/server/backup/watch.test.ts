/** When a backup is given up. */

import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '#config/config'
import { createLog } from '#kernel/log'
import { secretKeyOf } from '#kernel/secret'
import { Pace } from '#server/backup/pace'
import { takeBackup } from '#server/backup/take'
import { BackupWatch, unlessStopped, type Watched } from '#server/backup/watch'
import { writeBackup } from '#server/backup/write'
import { manualClock } from '#test/support/actors/manual-clock'
import { temporaryFolder } from '#test/support/folder'

const limits = { mostHeldBytes: 1_000, leastFree: 0, everyMs: 500, stalledMs: 600_000 }
const never = new Promise<never>(() => {})

const watching = (more: Partial<Watched> = {}) => {
  const clock = manualClock()
  const pace = new Pace(1e9, clock)
  return { clock, pace, watch: new BackupWatch({ clock, pace, limits, ...more }) }
}

/** Counts who listens. */
const stopping = () => {
  const controller = new AbortController()
  const { signal } = controller
  const [add, remove] = [
    signal.addEventListener.bind(signal),
    signal.removeEventListener.bind(signal),
  ]
  let listeners = 0
  Object.assign(signal, {
    addEventListener: (...given: Parameters<typeof add>) => {
      listeners++
      add(...given)
    },
    removeEventListener: (...given: Parameters<typeof remove>) => {
      listeners--
      remove(...given)
    },
  })
  return { controller, listeners: () => listeners }
}

test('a server that stops ends it, also one that stopped before it began, and nobody listens on', async () => {
  const { controller, listeners } = stopping()
  {
    using watch = watching({ signal: controller.signal }).watch
    watch.check()
    expect(listeners()).toBe(1)
    controller.abort()
    expect(() => watch.check()).toThrow('because the server stops')
  }
  expect(listeners()).toBe(0)
  using late = watching({ signal: controller.signal }).watch
  expect(() => late.check()).toThrow('because the server stops')
  await expect(late.unless(never)).rejects.toThrow('because the server stops')
})

test('what comes before the watch ends too, and is closed if it opens something after that', async () => {
  const { controller, listeners } = stopping()
  const { signal } = controller
  const opening = Promise.withResolvers<AsyncDisposable>()
  const closed = Promise.withResolvers<void>()
  const opened = { [Symbol.asyncDispose]: async () => closed.resolve() }
  expect(await unlessStopped(signal, async () => opened)).toBe(opened)
  const waiting = unlessStopped(signal, () => opening.promise)
  expect(listeners()).toBe(1)
  controller.abort()
  await expect(waiting).rejects.toThrow('because the server stops')
  expect(listeners()).toBe(0)
  opening.resolve(opened)
  await closed.promise
  const neverBegun = () => {
    throw new Error('it began')
  }
  await expect(unlessStopped(signal, neverBegun)).rejects.toThrow('because the server stops')
})

test('a server that stops does not wait for a database that takes connections and never answers', async () => {
  await using folder = await temporaryFolder()
  const asked = Promise.withResolvers<void>()
  using silent = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data: () => asked.resolve() },
  })
  const url = `postgres://nobody@127.0.0.1:${silent.port}/silent`
  const config = readConfig({ DATABASE_URL: url, TENDRIL_HOME: join(folder.path, 'home') })
  const controller = new AbortController()
  const made = takeBackup(
    { config, log: createLog('silent') },
    { to: join(folder.path, 'b'), passphrase: undefined, signal: controller.signal },
    { logical: false },
  )
  await Promise.race([asked.promise, made])
  controller.abort()
  await expect(made).rejects.toThrow('because the server stops')
  silent.stop(true)
})

test('a database that does not say what it holds back ends it, and so does one that holds too much', async () => {
  const silent = watching({ database: { data: '.', heldBytes: () => never } })
  using _ = silent.watch
  await silent.clock.advance(29_000)
  silent.watch.check()
  await silent.clock.advance(2_000)
  await expect(silent.watch.unless(never)).rejects.toThrow('has not answered for 30 s')
  const full = watching({ database: { data: '.', heldBytes: async () => 1_001 } })
  using __ = full.watch
  await expect(full.watch.unless(never)).rejects.toThrow('of the write-ahead log')
})

test('a backup that gets on with nothing for ten minutes ends', async () => {
  const { clock, pace, watch } = watching()
  using _ = watch
  await clock.advance(599_000)
  await pace.take(1)
  await clock.advance(599_000)
  watch.check()
  await clock.advance(3_000)
  expect(() => watch.check()).toThrow('no byte of it was read and written for 600 s')
})

test('a server that stops while the database is silent leaves nothing of the backup', async () => {
  await using folder = await temporaryFolder()
  const controller = new AbortController()
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const made = writeBackup(
    readConfig({}),
    { to: join(folder.path, 'b'), passphrase: undefined, signal: controller.signal },
    {
      kind: 'logical',
      facts: { deployment: crypto.randomUUID(), version: '000124', migrations: [], postgres: 18 },
      keys: { newest: secretKeyOf(Buffer.alloc(32)) },
      room: 0,
      copy: () => {
        resolve()
        return never
      },
    },
  )
  made.catch(() => {})
  await asked
  expect(readdirSync(folder.path).length).toBe(1)
  controller.abort()
  await expect(made).rejects.toThrow('because the server stops')
  expect(readdirSync(folder.path)).toEqual([])
})
