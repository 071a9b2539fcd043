/**
 * What must hold of the calls of tools: which are offered, which may run, and what the model is
 * told of them.
 */
import type { Approval } from '#domain/agent/job/approval'
import type { Job } from '#domain/agent/job/job'
import type { Step } from '#domain/agent/job/step'
import type { TranscriptMessage } from '#domain/agent/job/transcript'
import type { Role } from '#kernel/roles'
import { isOver, type Say } from './rules.ts'
import { mayRun, temptations, tools } from './tools.ts'
import { approvalOf, FOREIGN, hold, type World } from './world.ts'

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-/

/** A tool is about to do its work, with this role. */
export const checkUse = (world: World, step: Step, role: Role) => {
  const say = (holds: boolean, words: string) => hold(world, holds, `${step.name} runs: ${words}`)
  const { class: of } = tools.get(step.name)!
  const judged = world.judged.get(step.id)!
  const approval = approvalOf(world, step.id)
  const job = world.jobs.get(step.job_id)!
  const isRead = of === 'read' || of === 'outside_read'
  say(isRead || !world.uses.includes(step.id), 'twice')
  world.uses.push(step.id)
  say(judged.offered, 'it was not offered')
  say(job.tools === null || job.tools.includes(step.name), 'it is not one of the job')
  say(judged.rule !== 'deny', 'a rule forbids it')
  say(!isOver(job), 'its job is over')
  say(isRead || mayRun(step.name, role), `as ${role}`)
  say(step.args?.id !== FOREIGN, 'on a record of another workspace')
  if (isRead || of === 'safe') return
  const isAllowed =
    of === 'draft'
      ? judged.taint === 0 && judged.rule !== 'ask'
      : of === 'outside_write' && judged.taint === 0 && judged.rule === 'allow'
  if (isAllowed && mayRun(step.name, judged.role) && !judged.isRepeat)
    return say(approval === undefined, 'asked without need')
  checkAllowed(world, step, approval, say)
}

const checkAllowed = (world: World, step: Step, approval: Approval | undefined, say: Say) => {
  say(
    approval?.status === 'approved' && approval.decided_how === 'person',
    `with an approval that is ${approval?.status}`,
  )
  if (!approval) return
  say(approval.arguments_hash === step.args_hash, 'with other arguments than were approved')
  say(
    mayRun(step.name, world.people.get(approval.decided_by ?? '') ?? 'viewer'),
    'its approver may not do it',
  )
  const [shown] = approval.subject.records
  say(
    shown === undefined || world.records.get(shown.id) === Number(shown.sha256.slice(1)),
    'on a record that has changed since it was shown',
  )
  say(+approval.decided_at! < +approval.expires_at, 'decided too late')
}

/** A call that must not be made never was. One that others have changed meanwhile says so. */
export const checkRefused = (
  world: World,
  { id, name, started_at: began }: Step,
  error: string,
) => {
  const { state, started_at, error: said } = world.steps.get(id)!
  const holds = state === 'failed' && said === error && (began !== null || started_at === null)
  hold(world, holds, `${name} is ${state}, though it was not to be made: ${said}`)
  const isStale = approvalOf(world, id)?.decided_how === 'stale'
  hold(world, isStale === error.startsWith('changed'), `${name} was not shown as it is now`)
}

interface Offer {
  offered: string[]
  defined: string[]
  denied: ReadonlySet<string>
  role: Role
}

/** What the model is offered, and what it is given whole. */
export const checkDefined = (world: World, job: Job, { offered, defined, denied, role }: Offer) => {
  const expected = [...tools.values()].filter(({ name, class: of }) => {
    const isRead = of === 'read' || of === 'outside_read'
    return (
      !denied.has(name) &&
      (job.tools === null || job.tools.includes(name)) &&
      (isRead || role !== 'viewer')
    )
  })
  hold(
    world,
    offered.join() === expected.map(({ name }) => name).join(),
    `a ${role} is offered ${offered.join()}`,
  )
  const isWhole = job.tools !== null || offered.length < 20
  for (const name of offered) {
    const isNeeded = isWhole
      ? name !== 'use_tools'
      : name === 'use_tools' || !temptations.includes(name) || job.shown.includes(name)
    hold(world, defined.includes(name) === isNeeded, `${name} is ${isNeeded ? 'not ' : ''}defined`)
  }
  hold(
    world,
    defined.every((name) => offered.includes(name)),
    'a tool is defined that is not offered',
  )
}

/** Each call has its answer, and what strangers wrote is marked. */
export const checkTranscript = (
  world: World,
  steps: readonly Step[],
  messages: readonly TranscriptMessage[],
) => {
  const calls = steps.filter(({ kind }) => kind === 'tool')
  const given = messages.flatMap((message) => (message.role === 'tool' ? [message] : []))
  const refused = steps.flatMap(({ answer }) => answer?.refused?.calls ?? [])
  hold(
    world,
    given.length === calls.length + refused.length,
    `${calls.length} calls have ${given.length} results`,
  )
  for (const { id } of refused)
    hold(
      world,
      given.find(({ call }) => call === id)?.text.startsWith('error: too many') === true,
      'a refusal is not told',
    )
  const left = steps.flatMap(({ answer }) =>
    answer?.refused?.left ? [`${answer.refused.left} further calls`] : [],
  )
  for (const words of left)
    hold(
      world,
      given.some(({ text }) => text.includes(words)),
      'calls that were left out are not counted',
    )
  const results = given.filter(({ call }) => !refused.some(({ id }) => id === call))
  for (const [index, { call, text }] of results.entries()) {
    const step = calls[index]!
    hold(world, step.call === call, 'a result of another call')
    hold(world, step.state !== 'done' || !UUID.test(text), 'a uuid is shown to the model')
    if (step.untrusted)
      hold(
        world,
        text.includes('"untrusted":') && text.includes(step.untrusted),
        'untrusted words without their mark',
      )
    if (step.state === 'failed')
      hold(world, text.startsWith('error:'), 'a failure is not told as one')
    if (step.state === 'rejected')
      hold(world, text.startsWith(step.result?.text ?? 'A person'), 'a refusal is not told')
    if (step.state === 'unknown') hold(world, text.includes('not known'), 'a doubt is not told')
    if (step.state === 'done' && !step.untrusted)
      hold(world, text === step.result?.text, 'another result than the tool gave')
  }
}
