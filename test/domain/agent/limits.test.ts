/** Places for calls that wait for a person. */
import { expect, test } from 'bun:test'
import { roomForApprovals } from '#domain/agent/limits'

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
