import { describe, expect, test } from 'bun:test'
import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { dataOf } from '#postgres/cluster'
import { readPidFile } from '#postgres/orphan'
import { processStart } from '#postgres/process'
import { findEmbedded } from '#postgres/start'
import { query, spawnServer, start, until, untilReady } from '#test/support/database/embedded'
import { type TemporaryFolder, temporaryFolder } from '#test/support/folder'

const PATIENCE_MS = 60_000

describe('a home copied while its server runs', () => {
  const copied = async (folder: TemporaryFolder) => {
    const [home, copy] = [join(folder.path, 'home'), join(folder.path, 'copy')]
    const server = spawnServer(home)
    await untilReady(server)
    expect(Bun.spawnSync(['cp', '-a', home, copy]).exitCode).toBe(0)
    return { home, copy, server, original: readPidFile(dataOf(home))!.pid }
  }

  test(
    'is independent: its database starts beside the original, which keeps running',
    async () => {
      await using folder = await temporaryFolder()
      const { home, copy, server, original } = await copied(folder)
      const started = processStart(original)
      expect(readPidFile(dataOf(copy))!.pid).toBe(original)
      expect(await findEmbedded(copy)).toBeUndefined()
      {
        await using second = await start(copy)
        expect(second.target.host).toStartWith(copy)
        expect(await query(second.target, 'select current_database()')).toBe('tendril')
        expect(readPidFile(dataOf(copy))!.pid).not.toBe(original)
        expect(await findEmbedded(home)).toMatchObject({ host: join(home, 'run') })
      }
      expect(processStart(original)).toBe(started!)
      expect(readdirSync(copy).filter((name) => name.startsWith('.apart'))).toEqual([])
      server.kill('SIGKILL')
      await server.exited
    },
    PATIENCE_MS,
  )

  test(
    'is independent after the original has ended, too',
    async () => {
      await using folder = await temporaryFolder()
      const { copy, server, original } = await copied(folder)
      server.kill('SIGKILL')
      await server.exited
      await using second = await start(copy)
      expect(await query(second.target, 'select 1::text')).toBe('1')
      await until(() => processStart(original) === undefined)
    },
    PATIENCE_MS,
  )

  test(
    'is told from a home that was moved: its running server is named',
    async () => {
      await using folder = await temporaryFolder()
      const { home, server } = await copied(folder)
      const moved = join(folder.path, 'moved')
      renameSync(home, moved)
      await expect(start(moved)).rejects.toThrow(`process ${server.pid} already serves`)
      renameSync(moved, home)
      server.kill('SIGKILL')
      await server.exited
    },
    PATIENCE_MS,
  )
})
