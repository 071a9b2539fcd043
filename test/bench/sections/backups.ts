/**
 * What a backup costs the commands meanwhile: their p99 without and with one, in turns. Backups
 * take the disk at their usual rate; if one ends before the turn does, another follows.
 */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../support/folder.ts'
import { ownEnv } from '../../support/processes/own-env.ts'
import { median, type Row } from '../figures.ts'
import type { Result } from '../load.ts'
import { PROFILE_PATCH } from '../peer-sql.ts'
import { put } from '../requests.ts'
import { load, type Running, startProcess } from '../spawn.ts'
import type { World } from '../world.ts'

interface Sizes {
  /** Duration of one turn. */
  seconds: number
  /** Pairs of a turn without a backup and one beside it. */
  repeats: number
  callers: number[]
}

const MADE_WITHIN_MS = 120_000
const WARM_UP_S = 4

/** Makes one backup. */
type Make = (to: string) => Promise<void>

const byCommand =
  ({ env, home }: World, ...flags: string[]): Make =>
  async (to) => {
    const child = Bun.spawn([process.execPath, 'src/main.ts', 'admin', 'backup', to, ...flags], {
      env: ownEnv({ ...env, DATABASE_URL: '', TENDRIL_HOME: home }),
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const said = await new Response(child.stderr).text()
    if ((await child.exited) !== 0) throw new Error(said)
  }

const byServer =
  ({ pid, output }: Running): Make =>
  async (to) => {
    process.kill(pid, 'SIGUSR2')
    for (const until = performance.now() + MADE_WITHIN_MS; !existsSync(to); await Bun.sleep(20))
      if (performance.now() > until) throw new Error(`the server made no backup:\n${output()}`)
  }

/** One backup after the other for so long. */
const makeAgain = async (make: Make, to: string, seconds: number): Promise<void> => {
  const until = performance.now() + seconds * 1_000
  do {
    await make(to)
    rmSync(to)
  } while (performance.now() < until)
}

const inTurns = async (
  run: () => Promise<Result>,
  beside: () => Promise<void>,
  repeats: number,
): Promise<Row['figures']> => {
  const pairs: { quiet: number; busy: number }[] = []
  for (let repeat = 0; repeat < repeats; repeat++) {
    const { p99: quiet } = await run()
    const [{ p99: busy }] = await Promise.all([run(), beside()])
    pairs.push({ quiet, busy })
  }
  return {
    quietP99Ms: median(pairs.map(({ quiet }) => quiet)),
    p99Ms: median(pairs.map(({ busy }) => busy)),
    slowdown: median(pairs.map(({ quiet, busy }) => busy / quiet)),
  }
}

export async function backups(
  world: World,
  { seconds, repeats, callers: all }: Sizes,
): Promise<Row[]> {
  await using folder = await temporaryFolder()
  const to = join(folder.path, 'backup.tar.zst')
  await using server = await startProcess(
    [process.execPath, 'test/bench/sections/backups-server.ts'],
    { ...world.env, TENDRIL_HOME: world.home, BENCH_BACKUP_TO: to },
  )
  const ways = {
    'a command backs up the files of the database': byCommand(world),
    'a command backs up its rows': byCommand(world, '--logical'),
    'the server itself backs up its files': byServer(server),
  }
  const run = (callers: number, lasts: number) => {
    const tenants = world.tenants.slice(0, callers)
    const requests = tenants.map((tenant) => put('/api/v1/growth/profile', tenant, PROFILE_PATCH))
    return load({ port: server.port, callers, seconds: lasts, warmUpSeconds: 0, requests })
  }
  await run(Math.max(...all), WARM_UP_S)
  const rows: Row[] = []
  for (const [way, make] of Object.entries(ways))
    for (const callers of all)
      rows.push({
        what: `commands of ${callers === 1 ? 'one caller' : `${callers} callers`} while ${way}`,
        figures: await inTurns(
          () => run(callers, seconds),
          () => makeAgain(make, to, seconds),
          repeats,
        ),
        goals: [{ of: 'slowdown', atMost: 2 }],
      })
  return rows
}
