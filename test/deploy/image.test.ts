/** The rules of the Dockerfile, which nobody can build where these tests run. */
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

const read = (path: string): string => readFileSync(path, 'utf8')

interface Instruction {
  name: string
  rest: string
}

/** With continued lines as one, and without comments. */
const instructions: Instruction[] = read('Dockerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\s*\\\n\s*/g, ' ')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => {
    const [, name = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    return { name, rest }
  })

/** What becomes the image: all after the last FROM. */
const ofImage = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'))
const all = (name: string): string[] =>
  ofImage.flatMap((one) => (one.name === name ? [one.rest] : []))
const environment = Object.fromEntries(
  all('ENV').flatMap((rest) => rest.split(' ').map((pair) => pair.split('=', 2))),
)

test('is read as a whole', () => {
  expect(instructions.filter(({ name }) => name === '')).toEqual([])
  expect(instructions.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['FROM', 'RUN', 'COPY', 'USER', 'ENTRYPOINT', 'CMD', 'LABEL']),
  )
})

test('takes its bases by digest, and upgrades nothing in them', () => {
  const bases = instructions.filter(({ name }) => name === 'FROM')
  expect(bases).toHaveLength(2)
  for (const { rest } of bases)
    expect(rest).toMatch(/^[\w/.-]+:[\w.-]+@sha256:[0-9a-f]{64}( AS \w+)?$/)
  const commands = instructions.filter(({ name }) => name === 'RUN').map(({ rest }) => rest)
  for (const command of commands) {
    expect(command).not.toMatch(
      /\b(dist-|full-)?upgrade\s+-y|\bapt(-get)? \S*upgrade|npm (update|install)/,
    )
    for (const [install] of command.matchAll(/apt-get install [^&]*/g))
      expect(install).toContain(' --no-upgrade ')
  }
})

test('runs as a numeric user, to whom its folders belong', () => {
  const [user] = all('USER')
  expect(all('USER')).toHaveLength(1)
  expect(user).toMatch(/^[1-9]\d{4}:[1-9]\d{4}$/)
  const [uid, gid] = user!.split(':')
  const run = all('RUN').join('\n')
  expect(run).toContain(`groupadd --gid ${gid} `)
  expect(run).toContain(`useradd --uid ${uid} --gid ${gid} `)
  for (const folder of [environment.TENDRIL_HOME, '/var/backups/tendril'])
    expect(run).toMatch(
      new RegExp(`install -d -m 700 -o ${uid} -g ${gid} [^&]*${folder}( |$)`, 'm'),
    )
  expect(all('VOLUME')).toEqual([environment.TENDRIL_HOME!])
  expect(all('EXPOSE')).toEqual([environment.PORT!])
  expect(read('docs/operating.md')).toContain(`user ${uid}`)
})

test('begins with an init, which it installs, and by which no second one is needed', () => {
  expect(all('ENTRYPOINT')).toEqual(['["/usr/bin/tini", "--"]'])
  expect(all('CMD')).toEqual(['["tendril"]'])
  expect(all('RUN').join('\n')).toMatch(/apt-get install [^&]*\btini\b/)
  expect(read('deploy/compose.yml')).not.toMatch(/^\s*init:/m)
})

describe('the version and the commit', () => {
  test('are arguments of the build, and in its labels', () => {
    expect(all('ARG')).toEqual(['VERSION', 'COMMIT'])
    const [labels = ''] = all('LABEL')
    expect(labels).toContain('org.opencontainers.image.version=$VERSION')
    expect(labels).toContain('org.opencontainers.image.revision=$COMMIT')
    expect(environment.TENDRIL_COMMIT).toBe('$COMMIT')
    const compose = read('deploy/compose.yml')
    for (const name of all('ARG')) expect(compose).toContain(`${name}: \${${name}:-}`)
  })
})

test('no secrets of whoever builds it come along', () => {
  const ignored = read('.dockerignore').split('\n')
  expect(ignored).toEqual(expect.arrayContaining(['.git', 'node_modules', '**/.env']))
})
