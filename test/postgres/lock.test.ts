import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { acquireLock, lockHolder } from '#postgres/lock'
import { processStart } from '#postgres/process'
import { temporaryFolder } from '#test/support/folder'

describe('the lock', () => {
  test('has one holder, and is free again once released', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'lock')
    {
      using _held = acquireLock(path)
      expect(lockHolder(path)).toBe(process.pid)
      expect(() => acquireLock(path)).toThrow(`process ${process.pid}`)
    }
    expect(lockHolder(path)).toBeUndefined()
    expect(readdirSync(folder.path)).toEqual([])
  })

  test.each([
    ['of a process that has ended', JSON.stringify({ pid: 2 ** 30, started: '1' })],
    ['of an earlier process with the same pid', JSON.stringify({ pid: process.pid, started: '1' })],
    ['that a power cut left empty', ''],
  ])('%s is taken over', async (_name, text) => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'lock')
    writeFileSync(path, text)
    using _held = acquireLock(path)
    expect(lockHolder(path)).toBe(process.pid)
    expect(readdirSync(folder.path)).toEqual(['lock'])
  })

  test('of a zombie is taken over', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'lock')
    // The shell becomes a program that never reaps its child; the child ends only after that.
    const script = 'exec 3<&0; (read -r _ <&3) & echo $!; exec sleep 60'
    const parent = Bun.spawn(['sh', '-c', script], { stdio: ['pipe', 'pipe', 'inherit'] })
    const { value } = await parent.stdout.getReader().read()
    const pid = Number(new TextDecoder().decode(value))
    const program = () =>
      Bun.spawnSync(['ps', '-o', 'comm=', '-p', String(parent.pid)]).stdout.toString()
    while (!program().includes('sleep')) await Bun.sleep(5)
    parent.stdin.write('end\n')
    parent.stdin.flush()
    while (processStart(pid) !== undefined) await Bun.sleep(10)
    expect(process.kill(pid, 0)).toBe(true)
    writeFileSync(path, JSON.stringify({ pid, started: '1' }))
    using _held = acquireLock(path)
    expect(lockHolder(path)).toBe(process.pid)
    parent.kill()
  })

  test('is taken over although a process was killed while taking it over', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'lock')
    const stale = JSON.stringify({ pid: 2 ** 30, started: '1' })
    writeFileSync(path, stale)
    const guard = `${path}.${new Bun.CryptoHasher('sha256').update(stale).digest('hex').slice(0, 16)}`
    writeFileSync(guard, JSON.stringify({ pid: 2 ** 30, started: '2' }))
    using _held = acquireLock(path)
    expect(lockHolder(path)).toBe(process.pid)
    expect(readdirSync(folder.path)).toEqual(['lock'])
  })

  test('is not taken while another live process is taking it over', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'lock')
    using _other = acquireLock(join(folder.path, 'other'))
    const stale = JSON.stringify({ pid: 2 ** 30, started: '1' })
    writeFileSync(path, stale)
    const guard = `${path}.${new Bun.CryptoHasher('sha256').update(stale).digest('hex').slice(0, 16)}`
    writeFileSync(guard, readFileSync(join(folder.path, 'other')))
    expect(() => acquireLock(path)).toThrow(`process ${process.pid}`)
    expect(readFileSync(path, 'utf8')).toBe(stale)
    rmSync(guard)
  })
})
