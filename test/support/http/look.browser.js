/** Runs in the page: what somebody with a keyboard, a screen reader, a narrow screen or weak eyes meets there, each flaw as a sentence. */
;(() => {
  const flaws = []
  const all = (selector) => [...document.querySelectorAll(selector)]
  if (document.documentElement.lang !== 'en') flaws.push('the page names no language')
  if (!document.title.endsWith('Tendril')) flaws.push(`the title is ${document.title}`)
  if (all('h1').length !== 1) flaws.push(`there are ${all('h1').length} first headings`)
  if (all('main').length !== 1) flaws.push('there is no main part')
  const levels = all('h1, h2, h3').map((heading) => Number(heading.tagName[1]))
  if (levels.some((level, index) => index > 0 && level > levels[index - 1] + 1))
    flaws.push(`headings leave levels out: ${levels}`)
  for (const input of all('input:not([type=hidden]), select, textarea')) {
    const name = input.name
    if (![...(input.labels ?? [])].some((label) => label.innerText.trim() !== ''))
      flaws.push(`${name} has no label`)
    if (input.autocomplete === '' && input.tagName !== 'SELECT')
      flaws.push(`${name} does not say what it is for`)
    for (const id of (input.getAttribute('aria-describedby') ?? '').split(' ').filter(Boolean))
      if (!document.getElementById(id))
        flaws.push(`${name} is described by ${id}, which is not there`)
  }
  for (const link of all('a')) {
    if (link.innerText.trim() === '') flaws.push('a link has no text')
    const target = link.getAttribute('href') ?? ''
    if (target.startsWith('#') && !document.getElementById(target.slice(1)))
      flaws.push(`a link leads to ${target}, which is not there`)
  }
  for (const button of all('button'))
    if (button.getBoundingClientRect().height < 44)
      flaws.push(`${button.innerText} is small to hit`)
  if (all('[tabindex]').some((element) => element.tabIndex > 0))
    flaws.push('the order of focus is changed')
  const ids = all('[id]').map(({ id }) => id)
  if (new Set(ids).size < ids.length) flaws.push('an id is given twice')
  if (document.documentElement.scrollWidth > window.innerWidth)
    flaws.push(`${document.documentElement.scrollWidth} pixels wide`)
  const channels = (color) => (color.match(/[\d.]+/g) ?? []).map(Number)
  const light = (color) => {
    const [r = 0, g = 0, b = 0] = channels(color).map((value) => {
      const part = value / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const behind = (element) => {
    if (!element) return 'rgb(255, 255, 255)'
    const color = getComputedStyle(element).backgroundColor
    return channels(color)[3] === 0 ? behind(element.parentElement) : color
  }
  for (const element of all('body *')) {
    if (
      ![...element.childNodes].some(
        (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim(),
      )
    )
      continue
    const [one, other] = [light(getComputedStyle(element).color), light(behind(element))].sort(
      (a, b) => b - a,
    )
    const ratio = (one + 0.05) / (other + 0.05)
    if (ratio < 4.5) flaws.push(`${element.innerText} has a contrast of ${ratio.toFixed(2)}`)
  }
  return flaws
})()
