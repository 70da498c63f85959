// Comfort only: every page works without this file, by links, forms and addresses.
'use strict';
(() => {
  const body = document.body;
  if (!body.classList.contains('mh')) return;
  body.classList.add('js');
  const switchedOff = 'memoryhub.keys';
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const visible = (element) => element.getClientRects().length > 0;
  const rows = () => all('[data-row]').filter(visible);
  let current = null;
  let opener = null;

  // Panels: a source under its entry, the reason for a rejection, the list of keys.
  const panelOf = (link) => document.getElementById(link.dataset.panel);
  const isOpen = (panel) => panel.classList.contains('open');

  function show(panel, open) {
    panel.classList.toggle('open', open);
    panel.closest('[data-row]')?.classList.toggle('opened', open);
    if (open && panel.matches('.quote')) panel.scrollIntoView({ block: 'nearest' });
    all(`[data-panel="${panel.id}"]`).forEach((link) => link.setAttribute('aria-expanded', open));
    if (!panel.classList.contains('pop')) return;
    if (open) {
      all('.pop.open').filter((other) => other !== panel).forEach((other) => show(other, false));
      opener = document.activeElement;
      (panel.querySelector('input[type=radio]:checked') || panel.querySelector('input:not([type=hidden])')).focus();
    } else if (panel.contains(document.activeElement)) {
      (opener && opener !== body ? opener : document.querySelector(`[data-panel="${panel.id}"]`))?.focus();
    }
  }

  function openAddressed() {
    const panel = location.hash && document.getElementById(location.hash.slice(1));
    if (panel && panel.matches('.pop, .quote')) show(panel, true);
  }

  all('[data-panel], [data-close]').forEach((link) => link.setAttribute('role', 'button'));
  all('[data-panel]').forEach((link) => {
    link.setAttribute('aria-controls', link.dataset.panel);
    link.setAttribute('aria-expanded', isOpen(panelOf(link)));
  });
  addEventListener('hashchange', openAddressed);
  openAddressed();

  document.addEventListener('click', (event) => {
    const opening = event.target.closest('[data-panel]');
    const closing = event.target.closest('[data-close]');
    if (opening) show(panelOf(opening), !isOpen(panelOf(opening)));
    if (closing) show(closing.closest('.pop'), false);
    if (opening || closing) event.preventDefault();
    all('details.menu[open]').filter((menu) => !menu.contains(event.target)).forEach((menu) => { menu.open = false; });
  });

  // The next proposal takes the place of the one just decided, under the same key and the same pointer. For a second
  // nothing can be decided here: a double press must not approve what nobody has seen.
  let shownAt = Infinity;
  addEventListener('pageshow', () => { shownAt = performance.now(); });
  const justDecided = () => document.querySelector('#said .strip') && performance.now() < shownAt + 1000;

  // A decision on its way: the button keeps its size and says so, and no other can be taken.
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (form.closest('.decide, .pop') && justDecided()) {
      event.preventDefault();
      return;
    }
    if (!form.dataset.busy) return;
    const button = form.querySelector('[type=submit]');
    const started = Date.now();
    setTimeout(() => {
      button.style.minWidth = `${button.offsetWidth}px`;
      button.textContent = form.dataset.busy;
      all('.decide button, .pop button').forEach((other) => { other.disabled = true; });
      all('.decide a.btn, .pop a.btn').forEach((link) => { link.inert = true; });
    });
    setInterval(() => {
      const seconds = Math.round((Date.now() - started) / 1000);
      if (seconds > 1) button.textContent = form.dataset.still.replace('{seconds}', seconds);
    }, 1000);
  });
  // The browser's back button brings a page as it was left: busy.
  addEventListener('pageshow', (event) => { if (event.persisted) location.reload(); });

  // What was decided is said once the page is there; a region filled from the start stays silent.
  const said = document.querySelector('#said .strip span');
  if (said) setTimeout(() => { document.getElementById('live').textContent = said.textContent; }, 200);

  // A run that is under way: its part of the page is fetched again until it ended; what came of it is said once.
  const run = document.getElementById('run');
  const lookEvery = 2000;
  async function lookAgain() {
    try {
      const answer = document.hidden ? null : await fetch(location.href, { cache: 'no-store' });
      if (answer?.redirected) return;
      if (answer?.ok) showRun(new DOMParser().parseFromString(await answer.text(), 'text/html'));
    } catch { /* No connection: the next look may have one. */ }
    if ('follow' in run.dataset) setTimeout(lookAgain, lookEvery);
  }

  function showRun(fresh) {
    const now = fresh.getElementById('run');
    const focused = run.contains(document.activeElement) && document.activeElement.getAttribute('href');
    run.replaceChildren(...now.childNodes);
    document.title = fresh.title;
    if (focused) run.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    if ('follow' in now.dataset) return;
    delete run.dataset.follow;
    const outcome = [run.querySelector('h1'), ...all('[data-outcome]', run)];
    document.getElementById('live').textContent = outcome.map((part) => part.textContent.trim()).join('. ');
  }

  if (run && 'follow' in run.dataset) setTimeout(lookAgain, lookEvery);

  // Keys.
  function goTo(row) {
    if (!row) return;
    current?.classList.remove('current');
    current = row;
    row.classList.add('current');
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: 'nearest' });
  }

  function step(by) {
    const list = rows();
    const at = list.indexOf(current);
    goTo(list[at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + by, 0), list.length - 1)]);
  }

  document.addEventListener('focusin', (event) => {
    const row = event.target.closest('[data-row]');
    if (!row || row === current) return;
    current?.classList.remove('current');
    current = row;
    row.classList.add('current');
  });

  // Without a current entry: of the first that has a source.
  function openSource() {
    if (!current) goTo(rows().find((row) => row.querySelector('[data-row-key=s]')));
    current?.querySelector('[data-row-key=s]')?.click();
  }

  function openCurrent() {
    current?.querySelector('[data-row-key=s], summary')?.click();
  }

  function nextView() {
    const views = all('.switch a').filter(visible);
    const at = views.findIndex((link) => link.hasAttribute('aria-current'));
    if (views.length > 1) views[(at + 1) % views.length].click();
  }

  function escape() {
    const open = document.querySelector('.pop.open, details.menu[open]');
    if (!open) document.querySelector('[data-back]')?.click();
    else if (open.matches('details')) open.open = false;
    else show(open, false);
  }

  function press(key) {
    const target = all(`[data-key="${CSS.escape(key)}"]`).find((element) => visible(element) || key.startsWith('g '));
    target?.click();
    return Boolean(target);
  }

  let afterG = false;
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (event.repeat && !['j', 'k'].includes(event.key)) return;
    if (event.key === 'Escape') { escape(); return; }
    if (event.target.closest('input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]')) return;
    if (event.key === ' ' && event.target.matches('a[role=button]')) {
      event.target.click();
      event.preventDefault();
      return;
    }
    if (localStorage.getItem(switchedOff) === 'off') return;
    const chips = all('.pop.open input[type=radio]');
    if (chips.length && /^[1-9]$/.test(event.key)) {
      chips[event.key - 1]?.click();
      chips[event.key - 1]?.focus();
      return;
    }
    const key = afterG ? `g ${event.key}` : event.key;
    afterG = event.key === 'g' && !afterG;
    if (key === 'j') step(1);
    else if (key === 'k') step(-1);
    else if (key === 'v') nextView();
    else if (key === 's') openSource();
    else if (key === 'o') openCurrent();
    else if (key === 'Enter' && event.target === current) openCurrent();
    else if (afterG || (key === 'u' && justDecided()) || (key === 'Enter' && event.target !== body) || !press(key)) return;
    event.preventDefault();
  });

  // On a phone the rows of a list are no table any more: each cell says what it is.
  all('#changelist:not(.queue *) #result_list').forEach((table) => {
    const names = all('thead th', table).map((head) => head.textContent.trim());
    all('tbody tr', table).forEach((row) => [...row.children].forEach((cell, at) => {
      if (at && names[at]) cell.dataset.label = names[at];
      if (cell.textContent.trim() === '-') cell.classList.add('nothing');
    }));
  });

  all('[data-keys-switch]').forEach((box) => {
    box.checked = localStorage.getItem(switchedOff) !== 'off';
    box.addEventListener('change', () => localStorage.setItem(switchedOff, box.checked ? 'on' : 'off'));
  });
})();
