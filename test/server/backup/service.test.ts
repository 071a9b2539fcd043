/** Backups that a server makes by itself: when, which are kept, and what it says of them. */
import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { keptName } from '#server/backup/kept'
import { type BackupOrder, RUNNING, type TakenBackup } from '#server/backup/order'
import { BackupService } from '#server/backup/service'
import { eventually } from '#test/support/app'
import { temporaryFolder } from '#test/support/folder'
import { use } from '#test/support/use'

const place = use(temporaryFolder)
const deployment = '6f0c4d1e-0000-4000-8000-0123456789ab'
const HOUR_MS = 3_600_000
const START = Date.parse('2026-11-01T00:00:00Z')
const OVERDUE = 'the last good backup is twice as old as it should be'
let made = 0

/** A service whose time the test turns, and whose backups are files with a word in them. */
const serviceOf = (keep: number, take?: (order: BackupOrder) => Promise<void>) => {
  const folder = join(place.path, String(++made))
  mkdirSync(folder)
  const lines: { level: number; msg: string }[] = []
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const time = { now: START, asked: 0, looks: 0 }
  const settings = {
    everyMs: 24 * HOUR_MS,
    keep,
    passphraseFile: undefined,
    get folder() {
      time.looks++
      return folder
    },
  }
  const usual = async ({ to }: BackupOrder) => writeFileSync(to as string, 'a backup')
  const open = () =>
    new BackupService({
      settings,
      deployment,
      log: log as never,
      lookMs: 1,
      now: () => {
        time.asked++
        return time.now
      },
      take: async (order) => {
        await (take ?? usual)(order)
        return { at: '' } as TakenBackup
      },
    })
  const errors = () => lines.filter(({ level }) => level >= 50).map(({ msg }) => msg)
  return { folder, time, open, errors, files: () => readdirSync(folder).sort() }
}

/** A look asks for the folder once, and twice if it makes a backup. So does an error. */
const looked = async (time: { looks: number }): Promise<void> => {
  const before = time.looks
  await eventually(
    () => time.looks,
    (looks) => looks >= before + 8,
  )
}

/** Only for a service whose looks hang: each check of the age asks for the time once. */
const aged = async (time: { asked: number }): Promise<void> => {
  const before = time.asked
  await eventually(
    () => time.asked,
    (asked) => asked >= before + 3,
  )
}

const nameAt = (hours: number) => keptName(deployment, new Date(START + hours * HOUR_MS))

test('one is made at once, then one a period, and the oldest go after a newer one is there', async () => {
  const { folder, time, open, files, errors } = serviceOf(2)
  const others = ['mine.tar.zst', keptName(crypto.randomUUID(), new Date(0)), 'tendril-notes.txt']
  for (const name of others) writeFileSync(join(folder, name), '')
  const own = () => files().filter((name) => !others.includes(name))
  {
    await using service = open()
    await eventually(own, (names) => names.length === 1)
    for (const hour of [23, 24, 47, 48, 72]) {
      time.now = START + hour * HOUR_MS
      const from = Math.max(0, Math.floor(hour / 24) - 1)
      const expected = [from, Math.floor(hour / 24)].map((day) => nameAt(day * 24))
      await eventually(own, (names) => names.join() === [...new Set(expected)].join())
    }
    expect(service.report()).toMatchObject({ ageMs: 0, lastError: undefined, heldBytes: 0 })
  }
  expect(files()).toEqual([...others, nameAt(48), nameAt(72)].sort())
  // The next process goes on from what there is.
  time.now += HOUR_MS
  await using again = open()
  await eventually(
    () => again.report(),
    ({ ageMs }) => ageMs === HOUR_MS,
  )
  expect(own()).toEqual([nameAt(48), nameAt(72)])
  expect(errors()).toEqual([])
})

test('a failure is an error and removes nothing, and so is a last good one of two periods ago', async () => {
  let fails = true
  const { folder, time, open, files, errors } = serviceOf(1, async ({ to }) => {
    if (fails) throw new Error('the disk is broken')
    writeFileSync(to as string, '')
  })
  writeFileSync(join(folder, nameAt(-30)), '')
  await using service = open()
  await eventually(errors, (said) => said.length > 0)
  expect(errors()).toEqual(['no backup was made: the disk is broken'])
  time.now += 5 * 60_000
  await looked(time)
  expect(errors().length).toBe(1)
  time.now += 19 * HOUR_MS
  await eventually(errors, (said) => said.length >= 3)
  // In either order.
  expect(errors().slice(1).sort()).toEqual(['no backup was made: the disk is broken', OVERDUE])
  expect(service.report().lastError?.message).toBe('the disk is broken')
  expect(files()).toEqual([nameAt(-30)])
  fails = false
  time.now += HOUR_MS
  await eventually(files, (names) => names.length === 1 && names[0] !== nameAt(-30))
  expect(service.report()).toMatchObject({ ageMs: 0, lastError: undefined })
})

test('a last good one of two periods ago is an error once, also while the next one hangs', async () => {
  const { folder, time, open, files, errors } = serviceOf(
    1,
    ({ signal }) =>
      new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason))),
  )
  writeFileSync(join(folder, nameAt(-30)), '')
  {
    await using service = open()
    await eventually(
      () => service.report().ageMs,
      (age) => age === 30 * HOUR_MS,
    )
    time.now += 17 * HOUR_MS
    await aged(time)
    expect(errors()).toEqual([])
    time.now += 2 * HOUR_MS
    await eventually(errors, (said) => said.length > 0)
    await aged(time)
    expect(errors()).toEqual([OVERDUE])
  }
  expect([errors(), files()]).toEqual([[OVERDUE], [nameAt(-30)]])
})

test('another server that makes one is no failure, and what a dead one left goes', async () => {
  let isOther = true
  const { folder, time, open, files, errors } = serviceOf(1, async ({ to }) => {
    if (isOther) throw new Error(RUNNING)
    writeFileSync(to as string, '')
  })
  const [dead, growing] = ['aaaa', 'bbbb'].map((end) => `${nameAt(-1)}.part-${end}`) as [
    string,
    string,
  ]
  for (const name of [dead, growing]) writeFileSync(join(folder, name), '')
  utimesSync(join(folder, dead), 1, 1)
  await using _ = open()
  await looked(time)
  expect(errors()).toEqual([])
  isOther = false
  await eventually(files, (names) => names.join() === [growing, nameAt(0)].join())
})

test('a backup that is made counts, also if an older one cannot be removed', async () => {
  const { folder, time, open, files, errors } = serviceOf(1)
  mkdirSync(join(folder, nameAt(-24)))
  await using service = open()
  await eventually(errors, (said) => said.length > 0)
  expect(errors()).toEqual([expect.stringContaining('old backups were not removed: ')])
  await looked(time)
  expect(files()).toEqual([nameAt(-24), nameAt(0)])
  expect(service.report()).toMatchObject({ ageMs: 0, lastError: undefined })
  expect(errors().length).toBe(1)
})
