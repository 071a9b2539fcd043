/** What all pages share: frame, headers, form fields and the error summary. */
import type { AppError } from '#kernel/errors'
import { unseenCount, unseenWarning } from '#kernel/unseen'
import { CONSOLE_PATH } from '../console/page.ts'
import { countUnseen, type Html, html, markupOf } from './html.ts'
import { style, styleSource } from './style.ts'

const POLICY = [
  "default-src 'none'",
  `style-src ${styleSource}`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'x-frame-options': 'DENY',
  // Not no-referrer, because browsers would then send `Origin: null` with our own forms, which
  // would look like foreign ones.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
}

export interface PageContent {
  title: string
  body: Html
  status?: number
  /** Errors in the submitted form. */
  problems?: Problem[] | undefined
  /** The place of the console that shows the same, such as `inbox/call/<id>`. */
  inConsole?: string
  headers?: Record<string, string>
}

export interface Problem {
  /** The name of the field, if the problem concerns one. */
  field?: string
  says: string
}

const summaryOf = (
  problems: Problem[],
): Html => html`<div class="errors" role="alert" tabindex="-1" autofocus aria-labelledby="problems">
<h2 id="problems">There is a problem</h2>
<ul>${problems.map(({ field, says }) => (field === undefined ? html`<li>${says}</li>` : html`<li><a href="#${field}">${says}</a></li>`))}</ul>
</div>`

const warning = (unseen: number): Html | undefined =>
  unseen === 0
    ? undefined
    : html`<p class="note"><strong>${unseenWarning('This page', unseen)}</strong></p>`

const consoleLink = (place: string): Html => html`
<footer><a href="${CONSOLE_PATH}/${place}">Open it in the console</a></footer>`

/** A page. The error summary comes first and takes the focus. */
export const pageResponse = ({
  title,
  body,
  status = 200,
  problems = [],
  inConsole,
  headers = {},
}: PageContent): Response => {
  const wrong = problems.length > 0
  const top = html`${wrong ? summaryOf(problems) : undefined}
<h1>${title}</h1>`
  const text = markupOf(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${wrong ? 'Error: ' : ''}${title} · Tendril</title>
<style>${STYLE}</style>
</head>
<body>
<header><a href="/">Tendril</a></header>
<main>
${top}
${warning(countUnseen(top) + countUnseen(body))}
${body}
</main>${inConsole === undefined ? undefined : consoleLink(inConsole)}
</body>
</html>
`)
  return new Response(text, { status, headers: { ...HEADERS, ...headers } })
}

/** Not escaped, because it is our own text. */
const STYLE = html([style] as unknown as TemplateStringsArray)

/**
 * Redirects after a form (303), so that a reload does not submit it again. `cookies`: `Set-Cookie`
 * values.
 */
export const redirect = (path: string, cookies: string[] = []): Response => {
  const headers = new Headers({
    location: path,
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
  })
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  return new Response(null, { status: 303, headers })
}

export interface FormField {
  name: string
  label: string
  type?: 'text' | 'email' | 'password'
  autocomplete: string
  value?: string | undefined
  hint?: string
  optional?: boolean
  /** How many lines it shows, if the text may have several. */
  lines?: number
  problems?: Problem[] | undefined
}

/** What was typed is sent back unchanged. Its invisible characters are shown below it. */
const unseenOf = (value = ''): Html | undefined =>
  unseenCount(value) === 0
    ? undefined
    : html`<p class="hint">With unseen characters as codes:</p>\n<div class="text" dir="auto">${value}</div>`

/** A labelled field with its hint and error. */
export const field = ({
  name,
  label,
  type = 'text',
  autocomplete,
  value,
  hint,
  optional,
  lines,
  problems = [],
}: FormField): Html => {
  const wrong = problems.find((problem) => problem.field === name)
  const describedBy = [...(hint ? [`${name}-hint`] : []), ...(wrong ? [`${name}-wrong`] : [])].join(
    ' ',
  )
  const named = html`id="${name}" name="${name}"`
  const rest = html`autocomplete="${autocomplete}" spellcheck="false" autocapitalize="none"${optional ? undefined : html` required`}${
    describedBy ? html` aria-describedby="${describedBy}"` : undefined
  }${wrong ? html` aria-invalid="true"` : undefined}`
  return html`<label for="${name}">${label}${optional ? ' (optional)' : ''}</label>
${hint ? html`<p class="hint" id="${name}-hint">${hint}</p>` : undefined}
${wrong ? html`<p class="wrong" id="${name}-wrong">${wrong.says}</p>` : undefined}
${
  // Browsers drop the first line break of a text area.
  lines === undefined
    ? html`<input ${named} type="${type}" value="${value ?? ''}" ${rest}>`
    : html`<textarea ${named} rows="${lines}" ${rest}>\n${value ?? ''}</textarea>`
}${type === 'password' ? undefined : unseenOf(value)}`
}

export const hiddenField = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`

/** `time`: a time as text, as in JSON. */
export const timeText = (time: string): Html =>
  html`<time datetime="${time}">${time.slice(0, 19).replace('T', ' ')} UTC</time>`

const minutes = (seconds: number): string => {
  const count = Math.max(1, Math.ceil(seconds / 60))
  return count === 1 ? 'a minute' : `${count} minutes`
}

/** Turns an error into problems of a form. `labels`: by field name. */
export const problemsOf = (error: AppError, labels: Record<string, string>): Problem[] => {
  if (error.code === 'rate_limited')
    return [{ says: `Too many attempts. Try again in ${minutes(error.retryAfter ?? 60)}.` }]
  const details = error.details?.filter(({ path }) => path in labels) ?? []
  if (details.length > 0)
    return details.map(({ path, message }) => ({ field: path, says: `${labels[path]} ${message}` }))
  const says = error.message.charAt(0).toUpperCase() + error.message.slice(1)
  return [{ says: `${says}.` }]
}

/** 400 instead of 401, because 401 would ask for HTTP authentication. */
export const pageStatus = ({ status }: AppError): number => (status === 401 ? 400 : status)

export const retryHeaders = ({ retryAfter }: AppError): Record<string, string> =>
  retryAfter === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) }
