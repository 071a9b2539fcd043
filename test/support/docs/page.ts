/**
 * The commands that a page of the documentation tells its readers to type, and the output that it
 * promises.
 */

/**
 * `sh`: commands to run. `output`: what the command above prints. `text`: commands that are not
 * run, each with a reason. `json`: a file of another program.
 */
export const languages = ['sh', 'output', 'text', 'json'] as const

export interface Block {
  /** The language of the fence; empty if it names none. */
  language: string
  /** The index of the first of its lines in the page. */
  from: number
  lines: string[]
}

export const blocksOf = (page: string): Block[] => {
  const blocks: Block[] = []
  let open: Block | undefined
  for (const [index, text] of page.split('\n').entries()) {
    const fence = /^```(\w*)$/.exec(text)
    if (!fence) open?.lines.push(text)
    else if (open) open = undefined
    else {
      open = { language: fence[1]!, from: index + 1, lines: [] }
      blocks.push(open)
    }
  }
  return blocks
}

/** The commands of the page, each on its own line of it; all other lines are empty. */
export const scriptOf = (page: string): string => {
  const script = page.split('\n').map(() => '')
  for (const { language, from, lines } of blocksOf(page))
    if (language === 'sh') script.splice(from, lines.length, ...lines)
  return script.join('\n')
}

const PRINTS = /\s# prints (.+)$/

/** The output that the page promises for each command, by the index of the command's last line. */
export const promisesOf = (page: string): Map<number, string> => {
  const promises = new Map<number, string>()
  let last = 0
  for (const { language, from, lines } of blocksOf(page)) {
    if (language === 'output') promises.set(last, lines.join('\n'))
    if (language !== 'sh') continue
    for (const [index, line] of lines.entries()) {
      const promised = PRINTS.exec(line)?.[1]
      if (promised !== undefined) promises.set(from + index, promised)
    }
    last = from + lines.length - 1
  }
  return promises
}

/** Whether `printed` matches the promise, where `…` stands for any text. */
export const isAsPromised = (promised: string, printed: string): boolean => {
  const parts = promised
    .trim()
    .split('…')
    .map((part) => RegExp.escape(part))
  return new RegExp(`^${parts.join('[^]*')}$`).test(printed.trim())
}
