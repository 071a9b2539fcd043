/**
 * `npm run check`: all checks of the source that need no database. Prints one line per step, and
 * the output of failed ones.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

interface Step {
  name: string
  /** The problems as text; empty if there are none. */
  problems(): Promise<string>
}

const LONGEST_FILE = 300
const MOST_COLUMNS = 100
const MOST_FILES_OF_FOLDER = 40
const GENERATOR = 'src/scripts/generate.ts'

const runs = (name: string, command: string[]): Step => ({
  name,
  async problems() {
    const child = Bun.spawn(command, { stdio: ['ignore', 'pipe', 'pipe'] })
    const [out, err, exitCode] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return exitCode === 0 ? '' : `${out}${err}${command.join(' ')} ended with code ${exitCode}`
  },
})

const filesOf = (pattern: string): string[] =>
  [...new Bun.Glob(pattern).scanSync()].filter((path) => !path.includes('/node_modules/')).sort()

const fileLength: Step = {
  name: 'file length',
  async problems() {
    const lengths = filesOf('{src,actors,test}/**/*.{ts,tsx}').map((path) => ({
      path,
      lines: readFileSync(path, 'utf8').split('\n').length - 1,
    }))
    return lengths
      .filter(({ lines }) => lines >= LONGEST_FILE)
      .map(
        ({ path, lines }) => `${path} has ${lines} lines; it must have fewer than ${LONGEST_FILE}`,
      )
      .join('\n')
  },
}

/** The places of such lines: `src/main.ts:12`. */
const linesWhere = (isOne: (line: string) => boolean): string[] =>
  filesOf('{src,actors,test}/**/*.{ts,tsx}').flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, index) => (isOne(line) ? [`${path}:${index + 1}`] : [])),
  )

/** The formatter breaks code at this width, but not comments. */
const commentWidth: Step = {
  name: 'width of comments',
  async problems() {
    const wide = linesWhere(isWideComment)
    return wide.length > 0
      ? `comments of more than ${MOST_COLUMNS} columns:\n${wide.join('\n')}`
      : ''
  },
}
const isWideComment = (line: string): boolean =>
  line.length > MOST_COLUMNS && /^\s*(\/\*\*|\*|\/\/) /.test(line) && !line.includes('biome-ignore')

/** An object literal spread into another only saves lines: its fields stand in the outer one. */
const spreadLiterals: Step = {
  name: 'literals spread into others',
  async problems() {
    const found = linesWhere((line) => /^\s*\.{3}\{/.test(line))
    return found.length > 0 ? `write out these objects:\n${found.join('\n')}` : ''
  },
}

const folderSize: Step = {
  name: 'folder size',
  async problems() {
    const folders = Object.entries(Object.groupBy(filesOf('{src,actors,test}/**/*'), dirname))
    return folders
      .filter(([, files = []]) => files.length > MOST_FILES_OF_FOLDER)
      .map(
        ([path, files = []]) =>
          `${path} holds ${files.length} files; it must hold at most ${MOST_FILES_OF_FOLDER}: divide it by subject`,
      )
      .join('\n')
  },
}

/** If other versions are installed, type errors can appear that the source does not have. */
const installed: Step = {
  name: 'installed packages',
  async problems() {
    const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
    const wrong = Object.entries<string>({ ...dependencies, ...devDependencies }).flatMap(
      ([name, wanted]) => {
        const manifest = `node_modules/${name}/package.json`
        const found: string = existsSync(manifest)
          ? JSON.parse(readFileSync(manifest, 'utf8')).version
          : 'missing'
        return wanted.endsWith(found)
          ? []
          : [`${name} is ${found}, and package.json says ${wanted}`]
      },
    )
    return wrong.length > 0 ? [...wrong, 'run npm install'].join('\n') : ''
  },
}

const steps: Step[] = [
  installed,
  runs('format and lint', [
    'node_modules/.bin/biome',
    'ci',
    '--colors=off',
    '--max-diagnostics=none',
    '.',
  ]),
  // Several checkers each work out the types that they share: on two cores, one is faster.
  runs('types', ['node_modules/.bin/tsc', '--checkers', '1']),
  runs('types of the console', ['node_modules/.bin/tsc', '--checkers', '1', '-p', 'src/console']),
  runs('unused files, exports and packages', [
    process.execPath,
    'node_modules/.bin/knip',
    '--no-progress',
    '--treat-config-hints-as-errors',
  ]),
  ...(existsSync(GENERATOR)
    ? [runs('generated files', [process.execPath, GENERATOR, '--check'])]
    : []),
  runs('figures of the bench in its README', [process.execPath, 'test/bench/readme.ts', '--check']),
  // Reading the whole tree takes more than the usual five seconds on a busy machine.
  runs('architecture', [
    process.execPath,
    'test',
    '--timeout=60000',
    './test/architecture.test.ts',
  ]),
  fileLength,
  commentWidth,
  spreadLiterals,
  folderSize,
]

let failures = 0
const left = [...steps]

const runSteps = async (): Promise<void> => {
  for (let step = left.shift(); step; step = left.shift()) {
    const started = performance.now()
    const text = await step.problems()
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    console.log(`${text === '' ? 'ok    ' : 'FAILED'} ${step.name} (${seconds} s)`)
    if (text === '') continue
    failures++
    console.log(text)
  }
}

// Two at a time: the longest use several cores only in part, and the others one.
await Promise.all([runSteps(), runSteps()])
process.exit(failures > 0 ? 1 : 0)
