/** Places for jobs, and for calls that wait for a person. */
import { expect, test } from 'bun:test'
import { hasRoomForJob, roomForApprovals } from '#domain/agent/job/limits'

test.each<[what: string, all: number, ours: number, theirs: number, room: number]>([
  ['a job has its own bound', 0, 0, 0, 16],
  ['which counts what it has asked already', 20, 10, 10, 6],
  ['whoever asks much has three quarters of them', 140, 0, 140, 10],
  ['and none of the last', 150, 0, 150, 0],
  ['nor of those that others have taken', 170, 0, 30, -20],
  ['whoever has asked for few has some of the last', 150, 0, 0, 10],
  ['until they have asked for ten', 157, 0, 7, 3],
  ['and until all are taken', 198, 0, 0, 2],
  ['when nobody finds a place', 200, 0, 0, 0],
])('%s', (_, all, ours, theirs, room) => {
  expect(roomForApprovals({ all, ours, theirs })).toBe(room)
})

test.each<
  [what: string, all_jobs: number, their_jobs: number, most: number | undefined, has: boolean]
>([
  ['whoever asks much has four fifths of the places for jobs', 399, 399, undefined, true],
  ['and none of the last', 400, 20, undefined, false],
  ['which whoever has few finds', 400, 19, undefined, true],
  ['until all are taken', 500, 0, undefined, false],
  ['but no stranger', 400, 0, 400, false],
])('%s', (_, all_jobs, their_jobs, most, has) => {
  const open = { all_jobs, their_jobs, our_jobs: 0, our_typed: 0, all_typed: 0 }
  expect(hasRoomForJob(open, { typed: false, ...(most === undefined ? {} : { most }) })).toBe(has)
  expect(hasRoomForJob(open, { typed: true })).toBe(true)
})
