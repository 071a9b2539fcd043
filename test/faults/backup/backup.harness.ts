/**
 * Backups of a server under load, some of which are killed, each restored beside the running
 * original: a restored deployment sends nothing by itself, and whatever people then decide, no post
 * is on the network twice. Each command acknowledged before the time that a backup states is in it.
 * `npm run fault:backup -- --posts 300 --backups 10 --kills 5 --seed 7`.
 */
import { join } from 'node:path'
import { newApiKey } from '#kernel/api-key'
import { temporaryFolder } from '#test/support/folder'
import { type Verdict, verdictOn } from '../ledger.ts'
import { numbers } from '../numbers.ts'
import { alone } from '../own-database.ts'
import { type Home, operate, operated, serve } from './deployment.ts'
import { type Found, tryRestored } from './restored.ts'

export interface BackupOptions {
  posts: number
  backups: number
  kills: number
  seed: number
}

const FAULTS = '500=0.05,429=0.03,applied502=0.08,drop=0.05'
/** Posts fall due from now until then. */
const SPREAD_MS = 40_000
/** A backup of a small database at the usual rate takes about this long. */
const KILLED_WITHIN_MS = 2_500

interface Acknowledged {
  id: string
  at: number
}

/** Schedules posts as long as the run goes on. */
const load = async (
  { story }: Home,
  { posts, random }: { posts: number; random(): number },
  over: AbortSignal,
): Promise<Acknowledged[]> => {
  const done: Acknowledged[] = []
  const one = async (): Promise<void> => {
    const id = await story.scheduled(1_000 + random() * SPREAD_MS)
    done.push({ id, at: Date.now() })
  }
  while (done.length < posts && !over.aborted) {
    await Promise.all([one(), one(), one(), one()])
    await Bun.sleep(100)
  }
  return done
}

/** Kills a backup in the middle. Returns whether anything that verifies was left. */
const killed = async (home: Home, to: string, afterMs: number): Promise<boolean> => {
  const command = await operate(home.path, 'backup', to)
  await Bun.sleep(afterMs)
  command.kill()
  await command.exited
  return await operated(home.path, 'backup', 'verify', to).then(
    () => true,
    () => false,
  )
}

const slots = async ({ owner }: Home): Promise<number> =>
  (await owner`select 1 from pg_replication_slots`).length

interface Taken {
  at: number
  path: string
}

/** A backup and the home that it makes. */
const restored = async (home: Home, folder: string, nth: number): Promise<Taken> => {
  const [backup, path] = [join(folder, `backup-${nth}.tar.zst`), join(folder, `home-${nth}`)]
  const { at } = await operated(home.path, 'backup', backup)
  await operated(home.path, 'restore', backup, '--home', path)
  return { at: Date.parse(String(at)), path }
}

export async function runBackup({ posts, backups, kills, seed }: BackupOptions): Promise<Verdict> {
  await using folder = await temporaryFolder()
  const [random, key] = [numbers(seed), newApiKey()]
  await using original = await serve(join(folder.path, 'original'), { key, faults: FAULTS })
  const stop = new AbortController()
  const acknowledged: Acknowledged[] = []
  const loading = load(original, { posts, random }, stop.signal)
  void loading.then((all) => acknowledged.push(...all))
  let verified = 0
  for (let nth = 0; nth < kills; nth++)
    if (await killed(original, join(folder.path, `killed-${nth}`), random() * KILLED_WITHIN_MS))
      verified++
  const taken: Taken[] = []
  for (let nth = 0; nth < backups; nth++) taken.push(await restored(original, folder.path, nth))
  stop.abort()
  await loading
  const found: Found[] = []
  for (const { at, path } of taken) {
    const before = acknowledged.filter((one) => one.at < at).map(({ id }) => id)
    const copy = { original, path, key, faults: FAULTS, random, acknowledged: before }
    found.push(await tryRestored(copy))
  }
  const sum = (of: keyof Found) => found.reduce((total, one) => total + one[of], 0)
  const counts = {
    seed,
    posts: acknowledged.length,
    backups,
    kills,
    killed_too_late: verified,
    decided: sum('marked'),
    sent_while_held: sum('sentHeld'),
    doubled: sum('doubled'),
    lost: sum('lost'),
  }
  const never = {
    'posts by a held deployment': counts.sent_while_held,
    'posts that are on the network twice': counts.doubled,
    'acknowledged items that a backup lacks': counts.lost,
    'slots that a backup left': await slots(original),
  }
  return verdictOn({ counts, never, atStake: { decided: counts.decided } })
}

if (import.meta.main) {
  const defaults = { posts: 2_000, backups: 40, kills: 20, seed: 1 }
  await alone('backup', defaults, runBackup)
}
