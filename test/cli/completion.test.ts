/** The completion scripts, run by their shells where those are installed. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { cli } from '#test/support/cli/host'
import { temporaryFolder } from '#test/support/folder'
import { use } from '#test/support/use'

const folder = use(temporaryFolder)
beforeAll(async () => {
  await Bun.write(join(folder.path, 'draft.txt'), 'x')
})

/**
 * For each shell, a program that loads the script in $1 and completes the words after it, the last
 * of which is incomplete.
 */
const programs: Record<string, string[]> = {
  bash: [
    'bash',
    '-c',
    `source "$1"; shift; COMP_WORDS=(tendril "$@"); COMP_CWORD=$#; _tendril; printf '%s\\n' "\${COMPREPLY[@]}"`,
    'bash',
  ],
  // compadd and _describe work only in the line editor: here they print their arguments.
  zsh: [
    'zsh',
    '-f',
    '-c',
    `compdef() { :; }; compset() { :; }; _files() { print -- @draft.txt; }; _describe() { local entry; for entry in "\${(@P)4}"; do print -r -- "\${entry%%:*}"; done }
     source "$1"; shift; words=(tendril "$@"); CURRENT=$(( $# + 1 )); _tendril`,
    'zsh',
  ],
  fish: [
    'fish',
    '--no-config',
    '-c',
    `source $argv[1]; set -l line (string join -- ' ' tendril (string escape -- $argv[2..-2]) $argv[-1])
     complete -C "$line" | string replace -r '\t.*' ''; true`,
  ],
}

const complete = async (shell: string, words: string[]): Promise<string[]> => {
  const script = join(folder.path, `tendril.${shell}`)
  await Bun.write(script, (await cli(['completion', shell])).out)
  const child = Bun.spawn([...programs[shell]!, script, ...words], {
    cwd: folder.path,
    env: { ...process.env, HOME: folder.path },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  expect({ err, code: await child.exited }).toEqual({ err: '', code: 0 })
  return out.split('\n').filter((line) => line !== '')
}

/** zsh filters the candidates itself; the other shells' scripts have already done so. */
const fitting = (shell: string, found: string[], start: string): string[] =>
  shell === 'zsh' ? found.filter((one) => one.startsWith(start)) : found

describe.each(Object.keys(programs))('%s completes', (shell) => {
  const cases: [string, string[], string[]][] = [
    ["groups and the program's own commands", ['pro'], ['products', 'profile', 'profiles']],
    ['commands of a group', ['items', 'po'], ['post-now']],
    [
      'groups of the agent',
      ['agent', 'c'],
      [
        'channel-identities',
        'channel-replies',
        'channels',
        'chat',
        'conversation-feedback',
        'conversation-people',
        'conversations',
      ],
    ],
    ['commands of a group of the agent', ['agent', 'jobs', 'w'], ['watch']],
    ['options of a command of the agent', ['agent', 'approvals', 'list', '--s'], ['--status']],
    ['commands after an option of the program', ['--profile', 'work', 'items', 'po'], ['post-now']],
    ['options of a command', ['items', 'list', '--s'], ['--sort', '--status']],
    [
      'options of nested fields',
      ['profile', 'update', '--writing-dna.st'],
      ['--writing-dna.stories'],
    ],
    [
      'the values of an option',
      ['items', 'list', '--status', 'publish_'],
      ['publish_failed', 'publish_unconfirmed'],
    ],
    ['nothing for a free text', ['items', 'list', '--cursor', 'x'], []],
    ['shells', ['completion', 'z'], ['zsh']],
    ['files after @', ['items', 'approve', 'x', '--edited-body', '@dra'], ['@draft.txt']],
  ]
  test.skipIf(!Bun.which(shell)).each(cases)('%s', async (_, words, expected) => {
    const found = fitting(shell, await complete(shell, words), words.at(-1)!)
    expect(found.sort()).toEqual(expected)
  })
})
