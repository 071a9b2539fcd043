/** Which tools a job is offered, and for which of them it gets the whole definition. Pure. */
import type { Job } from './job.ts'
import { coreTools, FEW_TOOLS } from './prompt.ts'
import { isReading, type ToolClass } from './step.ts'

interface OfferedTool {
  name: string
  class: ToolClass
  /** Set for a tool of an external server. */
  server?: string
}

interface Offering {
  job: Pick<Job, 'tools' | 'shown'>
  mayRun(name: string): boolean
  /** A viewer's agent only reads. */
  readsOnly: boolean
  /** Tools that a rule of the workspace forbids. */
  denied: ReadonlySet<string>
}

/**
 * What the caller may not read is not offered. What the caller may not do is offered, because a
 * person can allow it.
 */
export const offeredTools = <T extends OfferedTool>(
  all: readonly T[],
  { job, mayRun, readsOnly, denied }: Offering,
): T[] =>
  all.filter((tool) => {
    if (denied.has(tool.name) || (job.tools && !job.tools.includes(tool.name))) return false
    if (readsOnly || isReading(tool))
      return (!readsOnly || isReading(tool) || tool.class === 'safe') && mayRun(tool.name)
    return true
  })

/** The offered tools whose definitions the model is given now. */
export const definedTools = <T extends OfferedTool>(
  offered: readonly T[],
  { tools, shown }: Pick<Job, 'tools' | 'shown'>,
): T[] => {
  const hasAll =
    tools !== null ||
    (offered.length < FEW_TOOLS && offered.every(({ server }) => server === undefined))
  if (hasAll) return offered.filter(({ name }) => name !== 'use_tools')
  return offered.filter(({ name }) => coreTools.includes(name) || shown.includes(name))
}
