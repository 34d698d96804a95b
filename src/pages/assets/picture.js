// Shows the picture that was chosen, lets the person choose the square of it that is used, and makes it small enough to be sent. Without this
// script the server takes the middle square.

const crop = document.querySelector('[data-crop]');
const input = document.getElementById(crop.dataset.crop);
const preview = crop.querySelector('canvas');
const [zoom, across, down] = crop.querySelectorAll('input');

let image;
/** What was made of the file last, so that it is not sent before it is ready. */
let making = Promise.resolve();
let isMaking = false;

/** Draws the square that is used, on a canvas of any size. */
function draw(canvas) {
  const side = Math.min(image.width, image.height) / zoom.value;
  const [left, top] = [(image.width - side) * across.value, (image.height - side) * down.value];
  const pen = canvas.getContext('2d');
  pen.imageSmoothingQuality = 'high';
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(image, left, top, side, side, 0, 0, canvas.width, canvas.height);
  return side;
}

/** Puts the square in the place of the file. */
async function useSquare(of) {
  const canvas = document.createElement('canvas');
  const side = Math.min(image.width, image.height) / zoom.value;
  canvas.width = Math.max(1, Math.round(Math.min(side, 512)));
  canvas.height = canvas.width;
  draw(canvas);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve));
  const square = new DataTransfer();
  square.items.add(new File([blob], 'picture.png', { type: blob.type }));
  // Another file may have been chosen meanwhile.
  if (image === of) input.files = square.files;
}

function make() {
  isMaking = true;
  making = making
    .then(() => useSquare(image))
    .finally(() => {
      isMaking = false;
    });
}

input.addEventListener('change', async () => {
  const [file] = input.files;
  crop.hidden = true;
  if (file === undefined) return;
  try {
    image = await createImageBitmap(file);
  } catch {
    // The browser cannot read it as a picture: the server says what is wrong.
    return;
  }
  [zoom.value, across.value, down.value] = [1, 0.5, 0.5];
  crop.hidden = false;
  draw(preview);
  if (file.size > Number(input.dataset.largest)) make();
});

for (const control of [zoom, across, down]) {
  control.addEventListener('input', () => draw(preview));
  control.addEventListener('change', make);
}

const limited = (value) => Math.min(1, Math.max(0, value));
preview.addEventListener('pointerdown', (event) => preview.setPointerCapture(event.pointerId));
preview.addEventListener('pointermove', ({ buttons, movementX, movementY }) => {
  if (buttons === 0) return;
  const side = draw(preview);
  const step = side / preview.clientWidth;
  across.value = limited(across.value - (movementX * step) / Math.max(1, image.width - side));
  down.value = limited(down.value - (movementY * step) / Math.max(1, image.height - side));
  draw(preview);
});
preview.addEventListener('pointerup', make);

input.form.addEventListener('submit', async (event) => {
  if (!isMaking) return;
  event.preventDefault();
  await making;
  input.form.requestSubmit(event.submitter);
});
