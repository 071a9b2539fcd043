/** The times of artifacts, which are their places in lists, and how long a share lasts. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { artifactTaskView, newArtifact, newShare } from '#domain/agent/knowledge/artifact'

const file = { id: 'f', byteSize: 3, sha256: 'a'.repeat(64) }
const given = {
  id: 'a',
  job_id: null,
  conversation_id: null,
  created_by_user_id: null,
  kind: 'other',
  metadata: {},
  untrusted: false,
} as const
const made = (changes: object) =>
  newArtifact({
    ...given,
    file_name: 'a.md',
    mime_type: 'text/plain',
    file,
    newest: null,
    now: new Date(0),
    ...changes,
  })

test('each artifact is later than all before it, however the clock goes', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 2, maxLength: 60 }),
      (clock) => {
        let newest: Date | null = null
        for (const ms of clock) {
          const { created_at }: { created_at: Date } = made({ newest, now: new Date(ms) })
          expect(created_at.getTime()).toBeGreaterThanOrEqual(ms)
          if (newest !== null) expect(created_at.getTime()).toBeGreaterThan(newest.getTime())
          newest = created_at
        }
      },
    ),
  )
})

test('an artifact takes size and hash from its file, and a safe name', () => {
  expect(made({ file_name: '../x.md' })).toMatchObject({
    byte_size: 3,
    sha256: file.sha256,
    file_id: 'f',
    file_name: '_x.md',
    source: 'capability',
    deleted_at: null,
  })
})

test('the agent is shown a name that others may have chosen as such', () => {
  expect(artifactTaskView(made({}))).toMatchObject({ fileName: 'a.md', untrustedFileName: null })
  expect(artifactTaskView(made({ untrusted: true }))).toMatchObject({
    fileName: null,
    untrustedFileName: 'a.md',
  })
})

test('a share lasts so many times 24 hours', () => {
  const share = newShare({
    id: 's',
    artifact_id: 'a',
    days: 90,
    now: new Date('2026-03-01T12:00:00.123Z'),
  })
  expect([share.expires_at.toISOString(), share.revoked_at]).toEqual([
    '2026-05-30T12:00:00.123Z',
    null,
  ])
})
