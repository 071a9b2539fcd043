import { refuseValue } from './values.ts'

/** A program that workspaces may run as an MCP server. */
export interface AllowedProgram {
  command: string
  /** The arguments that a workspace must give, exactly. */
  args: string[]
  /** Names of the variables that a workspace may set for it. */
  env: string[]
  /** Whether it has access to the network. */
  network?: boolean
  /**
   * Whether it may also run where the kernel grants no namespaces. There it has the network and can
   * see other processes.
   */
  unconfined?: boolean
}

const FORM =
  'JSON such as [{"command":"/usr/bin/notes","args":["--stdio"],"env":["NOTES_TOKEN"],"network":true}]'
const MOST_PROGRAMS = 100
const MOST_WORDS = 100

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/
/**
 * Variables that decide what else is run. A workspace that could set them would choose the program.
 */
const STEERING =
  /^(PATH|HOME|TMPDIR|SHELL|IFS|ENV|BASH_.*|LD_.*|DYLD_.*|GLIBC_.*|GCONV_PATH|NODE_.*|BUN_.*|PYTHON.*|PERL.*|RUBY.*|JAVA_.*)$/

const isWords = (value: unknown, isWord: (word: string) => boolean): value is string[] =>
  Array.isArray(value) &&
  value.length <= MOST_WORDS &&
  value.every((word) => typeof word === 'string' && isWord(word))

const isWord = (word: string): boolean => !word.includes('\0')

const programOf = (value: unknown): AllowedProgram => {
  const wrong = () => refuseValue('MCP_STDIO', FORM, JSON.stringify(value))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return wrong()
  const {
    command,
    args = [],
    env = [],
    network = false,
    unconfined = false,
    ...more
  } = value as Record<string, unknown>
  if (
    typeof command !== 'string' ||
    command === '' ||
    !isWord(command) ||
    Object.keys(more).length > 0
  )
    return wrong()
  if (typeof network !== 'boolean' || typeof unconfined !== 'boolean') return wrong()
  if (!isWords(args, isWord) || !isWords(env, (name) => VARIABLE.test(name))) return wrong()
  const steering = env.find((name) => STEERING.test(name))
  if (steering)
    return refuseValue(
      'MCP_STDIO',
      `without variables that choose what is run, such as ${steering}`,
    )
  return { command, args, env, ...(network && { network }), ...(unconfined && { unconfined }) }
}

export const programsOf = (text: string): AllowedProgram[] => {
  let programs: unknown
  try {
    programs = JSON.parse(text)
  } catch {
    return refuseValue('MCP_STDIO', FORM, text)
  }
  if (!Array.isArray(programs)) return refuseValue('MCP_STDIO', FORM, text)
  if (programs.length > MOST_PROGRAMS)
    return refuseValue('MCP_STDIO', `at most ${MOST_PROGRAMS} programs`)
  return programs.map(programOf)
}
